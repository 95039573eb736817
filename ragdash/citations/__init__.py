"""One function a citation style: the text of all answers in, the markers found in them out."""
