import fyke


@fyke.event
class Stock:
    symbol: str
    price: float


@fyke.event
class Share(Stock):  # a Share is a Stock
    volume: int


hub = fyke.Hub()


@hub.subscribe(Stock, where=lambda s: s.price < 10 and s.symbol == "Foo")  # a closure
def on_stock(stock: Stock) -> None:
    print(stock)  # gets the object


hub.publish(Share("Foo", 9.0, 300))  # Share(symbol='Foo', price=9.0, volume=300)
print(fyke.derived(lambda s: s.price < 10 and s.symbol == "Foo", Stock))  # what the index sees
