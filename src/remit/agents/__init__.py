"""Agent files: text → document, findings, graph, fixes, other harnesses' files. Pure: nothing here reads the disk."""
