"""A publisher that asks a summary first sends few of its events, and no subscriber notices."""

from random import Random

import fyke

rules = {f"r{at}": f"machine = 'm{at}' and celsius > {60 + at % 30}" for at in range(50)}

# At the broker: the subscriptions, and a summary of them as bytes.
hub = fyke.Hub()
got: list[tuple[str, object]] = []
for id, text in rules.items():
    hub.subscribe(text, lambda event, id=id: got.append((id, event["number"])))
data = fyke.Summary.of(rules.items()).to_bytes()

# At the publisher: only the bytes. `False` is certain, so nothing is lost.
summary = fyke.Summary.from_bytes(data)
draw = Random(1)
events = [
    {"machine": f"m{draw.randrange(250)}", "celsius": draw.randrange(100), "number": number}
    for number in range(2_000)
]
sent = [event for event in events if summary.may_match(event)]
for event in sent:
    hub.publish(event)

wanted = [
    (id, event["number"])
    for event in events
    for id, text in rules.items()
    if fyke.parse(text).matches(event)
]
print(len(data) < 1_000)  # True: fifty rules in less than a thousand bytes
print(len(sent) < len(events) / 10)  # True: nine in ten events stay at home
print(sorted(got) == sorted(wanted))  # True: every subscriber got all that it wanted
