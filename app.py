from ragdash.ui import shell

shell.main()
