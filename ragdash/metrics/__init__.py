"""One function a metric: all ranked lists or all answers in, one number each out."""
