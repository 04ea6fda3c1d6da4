"""Defects in vectors and in search by meaning."""

from __future__ import annotations

from planted.defect import Defect

FEED = "tests/daemon/backend/test_vector_feed.py"
MODEL_CHANGE = "tests/system/test_model_change.py"
SWITCHED = "tests/daemon/embedding/test_vectors_switched.py"
RESTARTED = "tests/daemon/backend/test_restarted_backend.py"
ONE_BACKEND = "tests/daemon/backend/test_only_one_gets_vectors.py"
AT_ONCE = "tests/indexing/backends/test_postgres_at_once.py"
UNREADABLE = "tests/indexing/vectors/test_unreadable_vectors.py"
WAITING = "tests/indexing/vectors/test_waiting_contents.py"
PENDING = "tests/daemon/embedding/test_vectors_pending.py"
REFUSED = "tests/indexing/vectors/test_refused_texts.py"

DEFECTS = (
    Defect(
        "busy-gateway-refuses",
        "a gateway whose limit of words is reached gets its long texts cut in halves, and their beginnings count",
        "livedex_indexing/vectors/text_embedding.py",
        (("if fault.again_s is not None:", "if False:"),),
        "tests/indexing/vectors/test_refused_texts.py::test_a_gateway_that_is_busy_refuses_nothing",
    ),
    Defect(
        "busy-gateway-is-hurried",
        "a gateway that wants to be left alone for an hour is asked again after a second",
        "livedex_daemon/embedding/embedding_thread.py",
        (("max(pause, rest_s or 0.0)", "pause"),),
        "tests/daemon/embedding/test_embedder_faults.py::test_a_gateway_is_left_alone_for_as_long_as_it_wants",
    ),
    Defect(
        "busy-gateway-gets-half-a-minute",
        "a gateway that wants 40 s is asked again after 30 s",
        "livedex_indexing/embeddings/http_calls.py",
        (("pause = wait if wait is not None else pause", "pause = min(30.0, wait if wait is not None else pause)"),),
        "tests/indexing/embeddings/test_gateways.py::test_one_that_wants_more_time_than_there_is_gets_it",
    ),
    Defect(
        "busy-gateway-gets-queries",
        "each query is sent to a gateway that wants to be left alone",
        "livedex_daemon/embedding/query_vectors.py",
        (("self._clock() + max(REST_S, fault.again_s or 0.0)", "self._clock() + REST_S"),),
        "tests/daemon/embedding/test_query_vectors.py::test_a_gateway_that_is_busy_gets_no_query",
    ),
    Defect(
        "vector-not-finite",
        "a vector that is not finite reaches the store",
        "livedex_indexing/embeddings/vector_check.py",
        (("if not length < 1 / _SHORTEST:", "if False:"),),
        "tests/indexing/vectors/test_vectors.py::test_a_useless_vector_never_reaches_the_store",
    ),
    Defect(
        "changes-hurry-a-gateway",
        "a gateway that fails is asked again at each change of a file",
        "livedex_daemon/embedding/embedding_thread.py",
        (("if self._failures and rest > 0:", "if False:"),),
        "tests/daemon/embedding/test_embedder_faults.py::test_changes_of_files_do_not_hurry_it",
    ),
    Defect(
        "vector-twice",
        "a text that has its vector is embedded again",
        "livedex_indexing/vectors/filler.py",
        (("if h not in known and t.strip()", "if t.strip()"),),
        "tests/indexing/vectors/test_vectors.py::test_nothing_is_embedded_again_for_what_was_known",
    ),
    Defect(
        "vectors-ignore-filters",
        "what vectors find passes no filter",
        "livedex_indexing/rank/similarity.py",
        (
            ("passing = filter_chunks(reader, best, resolved) if best else []", "passing = list(best)"),
            ("if best and len(passing) < ENOUGH", "if not best and len(passing) < ENOUGH"),
        ),
        "tests/indexing/search/test_hybrid.py::test_filters_count_for_what_meaning_finds",
    ),
    Defect(
        "phrase-without-meaning",
        "a search by meaning alone reads what is in quotes as mere words: excluded text is found",
        "livedex_indexing/search/word_search.py",
        (('self._firsts if self._meaning.mode == "semantic" else ', ""),),
        "tests/indexing/search/test_hybrid.py::test_phrases_and_what_is_excluded_count_for_what_meaning_finds",
    ),
    Defect(
        "no-feedback-of-words",
        "what resembles the best file by words is not nearer for it",
        "livedex_indexing/rank/fusion.py",
        (("if not ranked or not ranked[0].chunks:", "if True:"),),
        "tests/indexing/search/test_hybrid.py::test_what_resembles_the_best_file_by_words_is_near_too",
    ),
    Defect(
        "feedback-of-any-words",
        "a file that has a small part of the query leads as far away from it as one that has all",
        "livedex_indexing/rank/fusion.py",
        (("covered(ranked[0])", "1.0"),),
        "tests/indexing/search/test_hybrid.py::test_what_resembles_the_best_file_by_words_is_near_too",
    ),
    Defect(
        "no-feedback-of-a-backend",
        "what resembles the best hit of a backend is not nearer for it",
        "livedex_indexing/search/foreign_ranking.py",
        (("if ranked and ranked[0].chunk_id is not None:", "if False:"),),
        "tests/indexing/search/test_hybrid.py::test_what_resembles_the_best_hit_of_a_backend_is_near_too",
    ),
    Defect(
        "name-asks-for-meaning",
        "a name is answered by vectors, too",
        "livedex_indexing/search/meaning.py",
        (("return len(parsed.words) > 1 and not parsed.phrases and", "return bool(parsed.words) or"),),
        "tests/indexing/search/test_hybrid.py::test_a_name_a_path_and_a_phrase_stay_keyword",
    ),
    Defect(
        "key-that-no-header-can-have",
        "a key with a line break is quoted by the error, in `status` and in the log",
        "livedex_ipc/http_gateways.py",
        (("    if not (key.isascii() and key.isprintable()):", "    if False:"),),
        "tests/indexing/embeddings/test_gateways.py::test_what_no_header_can_have_is_no_key_and_is_named_without_it",
    ),
    Defect(
        "gateway-key-in-error",
        "an error of a gateway quotes the key",
        "livedex_indexing/embeddings/http_calls.py",
        (
            (
                "answers {status}{_REMEDY.get(status, '')}\"",
                "answers {status}{_REMEDY.get(status, '')} {self._headers}\"",
            ),
        ),
        "tests/indexing/embeddings/test_gateways.py::test_one_that_refuses_is_named_without_the_key",
    ),
    Defect(
        "hybrid-by-the-backend-alone",
        "an answer says `hybrid`, and the backend of a plugin ranked it alone",
        "livedex_indexing/search/foreign_ranking.py",
        (("return fused(ranked, near[:NEAREST], by_file=by_file)", "return ranked"),),
        "tests/indexing/search/test_hybrid.py::test_a_backend_is_put_together_with_vectors_by_places",
    ),
    Defect(
        "backend-with-some-vectors",
        "a backend that lacks new vectors answers as if it had all",
        "livedex_daemon/backend/vector_feed.py",
        ((" and self._source() == complete", ""),),
        f"{FEED}::test_new_vectors_count_before_they_are_heard_of",
    ),
    Defect(
        "backend-with-new-documents",
        "a backend answers by vectors while those of its new documents are still to be sent",
        "livedex_daemon/backend/vector_feed.py",
        (("complete.model == model and not self._due and", "complete.model == model and"),),
        f"{FEED}::test_new_documents_count_at_once",
    ),
    Defect(
        "replaced-vectors-find-nothing",
        "a search that got its vectors just before others took their place finds nothing by them",
        "livedex_indexing/search/searcher.py",
        (("if not meaning.is_outdated:", "if True:"),),
        "tests/indexing/search/test_hybrid.py::test_vectors_that_others_replace_in_the_middle_cost_no_hit",
    ),
    Defect(
        "new-vectors-serve-too-soon",
        "with another model, searches compare with the few vectors that are made so far",
        "livedex_daemon/embedding/embedding_thread.py",
        (("if new.store.complete or self._used is not None:", "if True:"),),
        f"{MODEL_CHANGE}::test_another_model_serves_once_it_is_complete",
        (
            (
                "livedex_daemon/embedding/embedding_thread.py",
                "            if self._used is None:\n                self._used = filling",
                "            self._used = filling",
            ),
        ),
    ),
    Defect(
        "one-sieve-for-bits",
        "chunks are left out by the number of their signs alone, and near ones with them",
        "livedex_indexing/vectors/packed_bits.py",
        (("-self._sums(vector, best)", "distance[best].astype(np.int32)"),),
        "tests/indexing/vectors/test_packed_bits.py::test_the_nearest_pass_both_sieves",
    ),
    Defect(
        "damaged-vectors-for-good",
        "a file of vectors that is damaged in the middle ends search by meaning until somebody removes it",
        "livedex_indexing/vectors/vector_store.py",
        (("except DAMAGED:", "except ZeroDivisionError:"),),
        "tests/indexing/vectors/test_vectors.py::test_a_file_that_is_damaged_in_the_middle_is_made_again",
    ),
    Defect(
        "unreadable-vectors-find-nothing",
        "a search that cannot read the file of vectors answers as if nothing were near",
        "livedex_indexing/vectors/nearest.py",
        (("            if self.closed:\n", "            if True:\n"),),
        f"{UNREADABLE}::test_one_that_was_cut_short",
    ),
    Defect(
        "damaged-table-of-the-nearest",
        "a damaged table of vec0 ends search by meaning until somebody removes the file",
        "livedex_indexing/vectors/nearest.py",
        (("(isinstance(fault, apsw.SQLError) and self._bits is None)", "False"),),
        f"{UNREADABLE}::test_one_whose_table_of_the_nearest_is_damaged",
    ),
    Defect(
        "half-a-table-of-the-nearest",
        "a search finds only some of the near chunks while the table of vec0 is made again",
        "livedex_indexing/vectors/nearest.py",
        (("with db:  # a search sees", "if True:  # a search sees"),),
        f"{UNREADABLE}::test_nothing_is_missed_while_it_is_made_again",
    ),
    Defect(
        "removed-vectors-stay-away",
        "a file of vectors that is removed under the daemon is not made again",
        "livedex_daemon/embedding/embedding_thread.py",
        (("(loss := one.store.loss()) is not None", "(loss := one.store.loss()) == 'overwritten'"),),
        "tests/daemon/embedding/test_lost_vectors.py::test_one_that_was_removed_is_made_again",
    ),
    Defect(
        "contents-that-come-back-are-missed",
        "a file that gets its former contents back has no vectors, and none is said to be missing",
        "livedex_indexing/vectors/filler.py",
        ((" its place\n                self._absent.add(content_id)\n", "\n"),),
        f"{WAITING}::test_a_content_that_comes_back_before_its_turn",
    ),
    Defect(
        "only-some-new-contents",
        "of many new files those beyond the first ten thousand get no vectors until something else changes",
        "livedex_indexing/vectors/filler.py",
        (("    while rows := reader.rows(sql, (last, ROWS)):", "    if rows := reader.rows(sql, (last, ROWS)):"),),
        f"{WAITING}::test_more_than_are_read_at_once",
    ),
    Defect(
        "comparison-without-effect",
        "what a comparison of the whole index finds waits until something changes",
        "livedex_daemon/embedding/embedding_thread.py",
        (("            if filling.pending:\n", "            if False:\n"),),
        f"{PENDING}::test_what_only_a_comparison_finds_is_made_at_once",
    ),
    Defect(
        "refused-text-holds-up-all",
        "one text that a gateway refuses ends the making of vectors",
        "livedex_indexing/vectors/text_embedding.py",
        (("            refusal = str(fault)\n", "            raise\n"),),
        f"{REFUSED}::test_the_others_get_their_vectors",
    ),
    Defect(
        "too-long-text-without-vector",
        "a text that is too long for the model has no vector",
        "livedex_indexing/vectors/text_embedding.py",
        (("if len(text) <= _SHORTEST:", "if text:"),),
        f"{REFUSED}::test_of_one_that_is_too_long_the_beginning_counts",
    ),
    Defect(
        "dead-gateway-refuses-texts",
        "texts under way when a gateway dies never get their vectors",
        "livedex_indexing/vectors/text_embedding.py",
        (("            raise fault from None", "            pass"),),
        f"{REFUSED}::test_one_that_dies_in_the_middle_refuses_nothing",
    ),
    Defect(
        "refused-for-good",
        "a text that an embedder refused once has no vector until its file changes",
        "livedex_indexing/vectors/filler.py",
        (("(again and have.vectors < chunks)", "False"),),
        f"{REFUSED}::test_what_was_refused_is_tried_again_after_a_start",
    ),
    Defect(
        "query-to-a-former-gateway",
        "queries go to a gateway that is no longer configured until other vectors are complete",
        "livedex_daemon/embedding/embedding_thread.py",
        (('return not is_same and getattr(embedder, "host", None) is not None', "return False"),),
        "tests/daemon/embedding/test_former_gateway.py::test_after_a_start",
    ),
    Defect(
        "fewer-texts-embedded",
        "the number of texts embedded since the start falls when another model is complete",
        "livedex_daemon/embedding/embedding_thread.py",
        (("        self._embedded += one.embedded\n", ""),),
        f"{PENDING}::test_the_number_of_texts_embedded_only_grows",
    ),
    Defect(
        "forgotten-bytes",
        "bytes that were sent to a gateway are no longer counted once it is not configured any more",
        "livedex_daemon/embedding/embedding_thread.py",
        (("        self._sent.update(_sent_by(one.embedder))\n", ""),),
        "tests/daemon/embedding/test_former_gateway.py::test_the_bytes_that_it_got_stay_in_the_count",
    ),
    Defect(
        "pending-of-the-former-model",
        "no vector is said to be missing as long as a new model is not used, or cannot be",
        "livedex_daemon/embedding/embedding_thread.py",
        (("return filling if filling is not None and filling.settings == settings else None", "return filling"),),
        f"{PENDING}::test_another_embedder_has_no_vectors_from_the_moment_it_is_configured",
    ),
    Defect(
        "vectors-weigh-words",
        "a file that vectors led to rises for its words, too, and the words of all others weigh less",
        "livedex_indexing/rank/results.py",
        (
            (
                "cosines = self._add_nearest(similarity, content_of, copies)\n",
                "cosines = self._add_nearest(similarity, content_of, copies)\n"
                "                features = self._features(content_of, None if found.late else named)\n",
            ),
        ),
        "tests/indexing/search/test_hybrid.py::test_vectors_change_nothing_of_what_words_are_worth",
    ),
    Defect(
        "postgres-tables-at-once",
        "of two daemons that begin with one PostgreSQL at once, one fails over the tables that the other makes",
        "livedex_indexing/backends/postgres_backend.py",
        (("self._db.execute(_ONE_AT_A_TIME)\n            self._run", "self._run"),),
        f"{AT_ONCE}::test_both_make_the_tables",
    ),
    Defect(
        "postgres-vectors-at-once",
        "of two daemons that send the first vectors at once, one fails over the table that the other makes",
        "livedex_indexing/backends/postgres_backend.py",
        (('self._db.execute(_ONE_AT_A_TIME)\n                self._db.execute("CREATE', 'self._db.execute("CREATE'),),
        f"{AT_ONCE}::test_both_make_the_table_of_vectors",
    ),
    Defect(
        "query-fails-with-the-former-vectors",
        "a search whose embedder is closed because another took its place compares words, with a warning",
        "livedex_daemon/embedding/embedding_thread.py",
        (("            if used is self._used:\n", "            if True:\n"),),
        f"{SWITCHED}::test_it_gets_the_new_vectors",
    ),
    Defect(
        "failing-embedder-asked-again",
        "a search asks an embedder that fails again and again",
        "livedex_daemon/embedding/embedding_thread.py",
        (("            if used is self._used:\n", "            if False:\n"),),
        f"{SWITCHED}::test_one_that_fails_in_its_place_is_not_asked_again",
    ),
    Defect(
        "waiting-query-without-a-reason",
        "a query that waits for its turn while another embedder takes the place of its own is an error",
        "livedex_daemon/embedding/query_vectors.py",
        (("        except CancelledError:", "        except ZeroDivisionError:"),),
        "tests/daemon/embedding/test_query_vectors.py"
        "::test_a_query_that_waits_for_its_turn_hears_that_another_embedder_took_its_place",
    ),
    Defect(
        "vectors-for-an-unused-backend",
        "a backend that no search uses gets vectors",
        "livedex_daemon/backend/mirror.py",
        (("if self.ready and self._is_used() else", "if self.ready else"),),
        f"{ONE_BACKEND}::test_one_that_is_not_in_use_gets_documents_alone",
    ),
    Defect(
        "vectors-for-two-backends",
        "the next backend gets vectors while the former one, which may fill the same tables, is still in use",
        "livedex_daemon/backend/backend_switch.py",
        (("lambda: self._current() is mirror)", "lambda: True)"),),
        f"{ONE_BACKEND}::test_the_next_backend_gets_vectors_once_the_former_gets_nothing_more",
    ),
    Defect(
        "former-embedder-named",
        "an embedder that is configured no more, and cannot be made any more, is named as a fault for good",
        "livedex_daemon/plugin_host/plugin_host.py",
        (
            (
                "            raise EmbedderUnavailable(str(fault)) from fault\n        if self",
                "            self.report(EMBEDDER, name, str(fault))\n"
                "            raise EmbedderUnavailable(str(fault)) from fault\n        if self",
            ),
        ),
        "tests/daemon/embedding/test_former_gateway.py::test_one_that_cannot_be_made_any_more_is_not_named",
    ),
    Defect(
        "stopped-backend-reports",
        "a backend that was stopped reports a fault, for good, in the name of the one that took its place",
        "livedex_daemon/backend/mirror.py",
        (
            (
                "        if self._stopping:\n            return  # its name",
                "        if False:\n            return  # its name",
            ),
        ),
        f"{RESTARTED}::test_one_that_was_stopped_reports_no_fault",
    ),
    Defect(
        "backend-stopped-with-files-left",
        "files that a backend was not given before the daemon's end are never given to it",
        "livedex_daemon/backend/mirror.py",
        (("if self.behind == 0 and not self._stopping:", "if self.behind == 0:"),),
        f"{RESTARTED}::test_one_that_is_stopped_with_files_left_gets_them_after_a_start",
    ),
    Defect(
        "backend-with-a-plan-not-compared",
        "a file that is cut anew as the daemon is killed is never given to the backend",
        "livedex_daemon/backend/mirror.py",
        (("return self._compared == self._plan()", "return True"),),
        f"{RESTARTED}::test_one_that_is_given_each_file_as_the_plan_changes_gets_all_once_more",
    ),
)
