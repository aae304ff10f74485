"""The papers' figures and claims, made again.

Inside:

    table                   rows of numbers, and questions to them
    experiment              what there is to reproduce of a paper: studies, figures, claims
    judges, wording         the questions that claims ask: does it rise, fall, equal a closed form;
                            numbers in words
    harness                 one Spark sweep, and what it leaves in a folder
    origin, outcome         where and when numbers were made; what a reproduction came to
    plots, report
                            the figures; the page
    das/                    the paper on distributed filter algorithms (DAS)
    pruning/, summaries/, multistage/, sub2sub/
                            the other four papers
    papers                  the papers by name
"""
