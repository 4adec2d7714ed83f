"""Scale the amounts of a recipe: `python3 scale.py FACTOR < recipe.txt`."""

import sys


def scale(line: str, factor: float) -> str:
    """The line with its amount multiplied; a line without an amount stays as it is.

    >>> scale("200 g flour", 1.5)
    '300 g flour'
    >>> scale("salt", 2)
    'salt'
    """
    amount, _, rest = line.partition(" ")
    return f"{float(amount) * factor:g} {rest}" if amount.isdigit() else line


if __name__ == "__main__":
    for line in sys.stdin:
        print(scale(line.rstrip("\n"), float(sys.argv[1])))
