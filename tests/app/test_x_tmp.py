from tests.app.test_ollama_path import *


def test_x(server, settings_file, vault):
    server.models[EMBEDDER] = embedding_model(dimensions=64, context=48)
    words = " ".join(f"word{n}" for n in range(900))
    (vault / "Long.md").write_text(f"# Long\n\n{words}\n\nThe last line names a marmoset.\n")
    index_with_ollama()
    c = open_companion()
    ch=c.index.neighbours("Long.md")
    print(len(ch), ch[-1].text, [x.text for x in ch if "marmoset" in x.text])
    for h in c.index.text_leg("marmoset", 5): print("text", h.keyword, h.text[:60])
    for h in c.retriever.retrieve("marmoset").hits: print(h.score,h.keyword, h.similarity,h.matched_by, h.text[:60])
    print(c.index.manifest.calibration)
    c.close(); assert 0
