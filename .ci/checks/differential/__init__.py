"""Mutants of real dumps, loaded by real servers and checked by rdblens: both have to agree on which are damaged.

`dump.py` takes dumps apart, `packed.py` the packed encodings inside values, `mutants.py` makes one mutant from a seed,
`verdicts.py` asks the servers, and `__main__.py` counts the cells. `.ci/differential --help` lists the options.
"""
