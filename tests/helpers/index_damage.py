"""Damage that a SQL tool can do to an index: one row of every table removed, doubled or changed.

Invariant: each damage concerns the file ``f7.txt``, one of several in the index, which also has ``code.py`` and a
Markdown file with frontmatter.
"""

from __future__ import annotations

A_FILE = "(SELECT id FROM files WHERE name = CAST('f7.txt' AS BLOB))"
A_CONTENT = "(SELECT content_id FROM files WHERE name = CAST('f7.txt' AS BLOB))"
A_COPY = """size, mtime_ns, ctime_ns, ino, status, reason, content_id, content_hash, signature, indexed_at, settled
            FROM files WHERE name = CAST('f7.txt' AS BLOB)"""
A_CHUNK = f"(SELECT first_chunk FROM contents WHERE id = {A_CONTENT})"

# A false statement about a file: only the disk shows it.
FILE_DAMAGES = {
    "a file is left out": f"DELETE FROM files WHERE id = {A_FILE}",
    "a file has another content": f"UPDATE files SET content_id = content_id - 1 WHERE id = {A_FILE}",
    "a file has no content": f"UPDATE files SET content_id = NULL WHERE id = {A_FILE}",
    "a file has another size": f"UPDATE files SET size = size + 1 WHERE id = {A_FILE}",
    "a file is skipped": f"UPDATE files SET status = 2, reason = 'binary', content_id = NULL WHERE id = {A_FILE}",
    "a file is failed": f"UPDATE files SET status = 3, reason = 'read', content_id = NULL WHERE id = {A_FILE}",
    "a file not there": f"INSERT INTO files SELECT 9999, root_id, folder, CAST('none.txt' AS BLOB), {A_COPY}",
    "an ignored file": f"""INSERT INTO files SELECT 9999, root_id, CAST('ignored' AS BLOB),
        CAST('hidden.txt' AS BLOB), {A_COPY}""",
}

# One row of every other table removed, doubled or changed.
DAMAGES = {
    "a content is left out": f"DELETE FROM contents WHERE id = {A_CONTENT}",
    "a content has another encoding": f"UPDATE contents SET encoding = 'utf-16-le' WHERE id = {A_CONTENT}",
    "a content has more chunks": f"UPDATE contents SET chunks = chunks + 1 WHERE id = {A_CONTENT}",
    "a content in use counts as unused": f"UPDATE contents SET unused_since = 1e12 WHERE id = {A_CONTENT}",
    "frontmatter": "UPDATE contents SET frontmatter = '{}' WHERE frontmatter IS NOT NULL",
    "a chunk is left out": f"DELETE FROM chunks WHERE id = {A_CHUNK}",
    "a chunk ends elsewhere": f"UPDATE chunks SET end_byte = end_byte - 3 WHERE id = {A_CHUNK}",
    "a chunk has another symbol": "UPDATE chunks SET symbol = 'otherFunction' WHERE symbol IS NOT NULL",
    "a chunk belongs elsewhere": f"UPDATE chunks SET content_id = 1 WHERE id = {A_CHUNK}",
    "a chunk counts as dead": f"INSERT INTO dead VALUES ({A_CHUNK})",
    "a dead chunk that is not there": "INSERT INTO dead VALUES (99999)",
    "words of a chunk are left out": f"DELETE FROM postings_docsize WHERE id = {A_CHUNK}",
    "words of a chunk are miscounted": f"UPDATE postings_docsize SET sz = x'09000000' WHERE id = {A_CHUNK}",
    "words of a chunk that is not there": "INSERT INTO postings_docsize VALUES (99999, x'01000000', 1)",
    "the totals": "UPDATE postings_data SET block = x'0501010101' WHERE id = 1",
    "a leaf of the words": "DELETE FROM postings_data WHERE id = (SELECT max(id) FROM postings_data)",
    "the words as they are written": f"DELETE FROM exact_docsize WHERE id = {A_CONTENT}",
    "words of a path are left out": f"DELETE FROM paths_docsize WHERE id = {A_FILE}",
    "words of a path are miscounted": f"UPDATE paths_docsize SET sz = x'0909' WHERE id = {A_FILE}",
    "words of a path that is not there": "INSERT INTO paths_docsize VALUES (99999, x'0101', 1)",
    "a root's id": "UPDATE roots SET id = 77",
    "a language": "DELETE FROM languages WHERE name = 'python'",
}
