"""Reports: pages and plots with one look, for pipelines and experiments.

Inside:

    look                    colours and the style of all plots; images that no window knows
    page, page.html         one HTML file with nothing outside it: facts, sections, images, tables

What a page says is written where the numbers come from: `pipeline/report`, `experiments/report`.
"""
