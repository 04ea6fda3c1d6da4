;;; livedex-consult.el --- Hits of livedex with a preview  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The livedex authors

;; Author: The livedex authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `livedex-consult' searches as you type by way of consult, 2.0 or later:
;; the place of the selected hit is shown meanwhile, and embark exports
;; the list to a grep buffer.

;;; Code:

(require 'livedex)

(declare-function consult--grep-state "ext:consult")
(declare-function consult--read "ext:consult")
(defvar consult-async-split-style)
(defvar consult-preview-key)

(defconst livedex-consult--pause 0.25
  "The seconds without a key after which the best place is shown.
To visit its file takes longer than the list does.")

(defun livedex-consult--source (folder)
  "Return an asynchronous source of consult.
It shows paths relative to FOLDER.  The list of a query stays until that
of the next one has come, so that nothing waits and nothing flickers."
  (lambda (sink)
    (let (asked)
      (lambda (action)
        (prog1 (funcall sink action)
          (cond
           ((eq action 'destroy)
            (setq asked nil))
           ((and (stringp action) (not (equal action asked)))
            (setq asked action)
            (funcall sink [indicator running])
            (livedex-daemon-request
             :search (livedex-typing-params action)
             (lambda (result fault)
               (when (equal action asked)
                 (when fault
                   (message "livedex: %s" (plist-get fault :message)))
                 (funcall sink 'flush)
                 (funcall sink (livedex-candidates result action folder))
                 (funcall sink [indicator finished])
                 (funcall sink 'refresh)))))))))))

(defun livedex-consult--read (folder)
  "Search as the user types; return a hit, or nil.
Paths are shown relative to FOLDER.  If Enter came ahead of the list, it
is the best hit of what was typed."
  (let* ((typed "")
         (previewed nil) ; what was typed when a place was shown
         (pause (list :debounce livedex-consult--pause 'any))
         (preview (consult--grep-state))
         (consult-async-split-style nil) ; each sign is part of the query
         (while-no-input-ignore-events (livedex-ignored-events))
         (chosen
          (consult--read
           (livedex-consult--source folder)
           :prompt "Search: "
           :category 'consult-grep
           :preview-key (if (eq consult-preview-key 'any)
                            pause
                          consult-preview-key)
           :lookup (lambda (selected candidates input &rest _)
                     (setq typed input)
                     (setf (nth 1 pause) ; a move shows its place at once
                           (if (equal input previewed) 0
                             livedex-consult--pause))
                     (car (member selected candidates)))
           :state (lambda (action candidate)
                    (when (eq action 'preview)
                      (setq previewed typed))
                    (unless (eq action 'return)
                      (funcall preview action candidate)))
           :add-history (thing-at-point 'symbol t)
           :history '(:input livedex-history)
           :sort nil)))
    (if (and chosen (equal (get-text-property 0 'livedex-query chosen) typed))
        (get-text-property 0 'livedex-hit chosen)
      (car (livedex-hit-search typed 1 :typing t)))))

;;;###autoload
(defun livedex-consult ()
  "Search as you type, with a preview, and open the hit."
  (interactive)
  (unless (require 'consult nil t)
    (user-error "This needs consult; `livedex' works without it"))
  (livedex-open-hit (livedex-consult--read (livedex-hit-folder))))

(provide 'livedex-consult)
;;; livedex-consult.el ends here
