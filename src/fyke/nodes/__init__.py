"""The contract between algorithms and what runs them: values in, effects out.

| module | idea |
|---|---|
| `message.py` | what travels over links |
| `inputs.py` | what a node is told |
| `effect.py` | what a node wants done |
| `node.py` | the contract |
| `codec.py` | messages as bytes, with kinds and a version |
"""
