"""Standing queries over events: the first fifteen lines with Fyke."""

import fyke

cheap = fyke.parse("type is Stock and symbol like 'OT%' and price between 8.30 and 8.70")
print(cheap.matches({"type": "Stock", "symbol": "OTE", "price": 8.4}))  # True
print(cheap.matches({"type": "Stock", "symbol": "OTE"}))  # False: no price, no match

wider = fyke.parse("price < 10")
print(fyke.covers(wider, cheap))  # True: whoever gets `wider` gets all of `cheap`

rule = fyke.parse('{"detail": {"state": [{"prefix": "run"}]}}', dialect="eventbridge")
print(rule)  # the same tree, printed in the native language
print(rule.matches({"detail": {"state": "running"}}))  # True
