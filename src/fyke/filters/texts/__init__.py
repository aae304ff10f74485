"""Languages of texts: patterns, expressions, and how one includes another.

Inside:

    glob                    string patterns: matching and covering
    regular_expression, required_text
                            RE2; the text that every match of an expression holds
    wording                 all values of an event as one text, for keywords
"""
