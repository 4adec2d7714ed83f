"""Says hello."""


def greet() -> str:
    """A greeting."""
    return "Hello!"


if __name__ == "__main__":
    print(greet())
