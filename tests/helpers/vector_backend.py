"""A backend with vectors, as a plugin, in memory: ranks by words found and by exact cosines. It breaks when told to."""

from __future__ import annotations

# With the file `fail` in its folder, the methods of vectors do what the file says.
PLUGIN = """
import os, time
from livedex_indexing.plugins import BaseBackend, FileRecord, Hit

def cosine(one, two):
    length = lambda vector: sum(value * value for value in vector) ** 0.5
    return sum(a * b for a, b in zip(one, two)) / (length(one) * length(two))

class Vectors(BaseBackend):
    def __init__(self, folder):
        self.folder, self.documents, self.vectors = folder, {}, {}
    def broken(self):
        path = os.path.join(self.folder, "fail")
        how = open(path).read() if os.path.exists(path) else ""
        if how == "raises":
            raise RuntimeError("no room for vectors")
        if how == "hangs":
            time.sleep(60)
        return how
    def index(self, document):
        self.documents[document.path] = document
        for kept in self.vectors.values():
            for place in [place for place in kept if place[0] == document.path]:
                del kept[place]
    def delete(self, path):
        gone = [name for name in self.documents if name == path or name.startswith(path + "/")]
        for name in gone:
            del self.documents[name]
            for kept in self.vectors.values():
                for place in [place for place in kept if place[0] == name]:
                    del kept[place]
        return bool(gone)
    def chunks(self, query):
        for document in self.documents.values():
            if query.path and document.path != query.path and not document.path.startswith(query.path + "/"):
                continue
            if query.languages and document.language not in query.languages:
                continue
            yield from ((document.path, chunk) for chunk in document.chunks)
    def search(self, query):
        words = query.text.lower().split()
        scores = [(sum(map(chunk.text.lower().count, words)), path, chunk) for path, chunk in self.chunks(query)]
        hits = [Hit(path, chunk.ordinal, float(score)) for score, path, chunk in scores if score]
        return sorted(hits, key=lambda hit: -hit.score)[query.offset:query.offset + query.limit]
    def lacking_vectors(self, model, after, limit):
        how = self.broken()
        kept = self.vectors.get(model, {})
        keys = {c.vector_key for path, d in self.documents.items() for c in d.chunks if (path, c.ordinal) not in kept}
        return {"none": None, "nonsense": ["xyz"]}.get(how, sorted(key for key in keys if key > after)[:limit])
    def put_vectors(self, model, vectors):
        kept = self.vectors.setdefault(model, {})
        for path, document in self.documents.items():
            for chunk in document.chunks:
                if chunk.vector_key in vectors:
                    kept[path, chunk.ordinal] = vectors[chunk.vector_key]
    def drop_other_vectors(self, model):
        self.vectors = {model: self.vectors.get(model, {})}
    def nearest(self, model, vector, query):
        if self.broken() == "nonsense":
            return [("a", 1)]
        kept = self.vectors.get(model, {})
        places = [(path, chunk.ordinal) for path, chunk in self.chunks(query) if (path, chunk.ordinal) in kept]
        hits = [Hit(*place, cosine(kept[place], vector)) for place in places]
        return sorted(hits, key=lambda hit: -hit.score)[query.offset:query.offset + query.limit]

def register(registry):
    registry.register_backend("vectors", lambda config: Vectors(config["plugin"]["folder"]))
"""
