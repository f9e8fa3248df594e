"""Views: plain models of what a compilation is, as text, as static html and as pictures."""
