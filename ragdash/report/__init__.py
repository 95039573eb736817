"""A stored comparison as files for people who do not have ragdash."""
