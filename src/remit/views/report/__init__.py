"""Reports: a run as an HTML or Markdown file. `content` has the words that both share.

What agents wrote is in such a file as text and nothing else, whoever opens it and with what.
"""
