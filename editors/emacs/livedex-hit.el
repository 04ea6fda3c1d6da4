;;; livedex-hit.el --- Hits of livedex, and their places  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The livedex authors

;; Author: The livedex authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A hit is a property list as the daemon sends it: "A hit" on the page of
;; the protocol.  Columns of the daemon are bytes from 1, those of Emacs
;; are characters from 0.

;;; Code:

(require 'livedex-daemon)
(require 'seq)
(require 'thingatpt)
(require 'xref)

(defvar livedex-history nil
  "Queries, the newest first.")

(defconst livedex-hit-most 1000
  "The number of hits that the daemon gives in one answer at most.")

(defun livedex-hit-search (query limit &rest params)
  "Return at most LIMIT hits of QUERY, best first; PARAMS are of `search'."
  (livedex-hit-all (livedex-daemon-ask
                    :search `(:query ,query :limit ,limit ,@params))))

(defun livedex-hit-all (result)
  "Return the hits of RESULT in a list.  Say so if it is not up to date."
  (when (eq (plist-get result :fresh) :json-false)
    (message "livedex: not up to date: %s" (plist-get result :reason)))
  (append (plist-get result :hits) nil))

(defun livedex-hit-read-query ()
  "Read a query, by default the symbol at point."
  (let ((symbol (thing-at-point 'symbol t)))
    (read-string (format-prompt "Search" symbol) nil 'livedex-history symbol)))

(defun livedex-hit-path (hit)
  "Return the path of HIT's file."
  (let ((bytes (plist-get hit :path_b64)))
    (if bytes
        (decode-coding-string (base64-decode-string bytes) 'utf-8-unix)
      (plist-get hit :path))))

(defun livedex-hit-column (hit)
  "Return the column of HIT's match in its line."
  (let ((text (encode-coding-string (plist-get hit :text) 'utf-8-unix))
        (bytes (1- (plist-get hit :column))))
    (if (<= bytes (length text))
        (length (decode-coding-string (substring text 0 bytes) 'utf-8-unix))
      bytes))) ; the text is only a part of a very long line

(defun livedex-hit-text (hit property face)
  "Return the line of HIT; its matches have the PROPERTY FACE."
  (let* ((text (copy-sequence (plist-get hit :text)))
         (ahead (- (plist-get hit :line) (plist-get hit :snippet_line)))
         (lines (split-string (plist-get hit :snippet) "\n"))
         ;; What the snippet has of the line, and where that begins in both.
         (part (string-remove-suffix "\r" (or (nth ahead lines) "")))
         (begin (seq-reduce #'+ (seq-map (lambda (line) (1+ (length line)))
                                         (seq-take lines ahead))
                            0))
         (shift (- (or (string-search part text) 0) begin)))
    (seq-doseq (mark (plist-get hit :highlights)) ; offsets in the snippet
      (let ((start (max (aref mark 0) begin))
            (end (min (aref mark 1) (+ begin (length part)))))
        (when (< start end)
          (put-text-property (+ shift start) (+ shift end)
                             property face text))))
    text))

(defun livedex-hit-location (hit)
  "Return the place of HIT for xref."
  (xref-make-file-location (livedex-hit-path hit) (plist-get hit :line)
                           (livedex-hit-column hit)))

(defun livedex-hit-folder ()
  "Return the current folder as the daemon names it, nil if it is remote."
  (unless (file-remote-p default-directory)
    (file-name-as-directory (file-truename default-directory))))

(defun livedex-hit-name (path folder)
  "Return PATH relative to FOLDER if it lies below it, else as it is."
  (if (and folder (string-prefix-p folder path))
      (substring path (length folder))
    path))

(provide 'livedex-hit)
;;; livedex-hit.el ends here
