"""The native language: text to trees and back.

Inside:

    notation                how values and names are written
    tokens                  text as words with their positions
    parser                  words as a tree, by the grammar on top of the file
"""
