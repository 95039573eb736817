"""The command line: one module a group of commands, each imported when it is called."""
