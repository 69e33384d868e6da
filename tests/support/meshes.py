"""Small meshes as text."""

TRIANGLE = """solid t
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid t
"""
"""One triangle as STL."""
