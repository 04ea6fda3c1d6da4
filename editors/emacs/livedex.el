;;; livedex.el --- Search that is always fresh  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The livedex authors

;; Author: The livedex authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "29.1"))
;; Keywords: matching, tools
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A client of the livedex daemon, which keeps an index of your folders
;; always fresh.
;;
;; `livedex' searches as you type in the minibuffer, and opens the hit.
;; `livedex-xref' lists the hits of a query in an xref buffer.
;; `livedex-follow' shows them in a buffer that is kept up to date while
;;   files are saved, renamed and deleted.
;; `livedex-consult' is `livedex' with a preview, by way of consult.
;; `livedex-xref-backend' finds definitions and references without a
;;   language server.
;;
;; No index is kept here: each list is an answer of the daemon, in the
;; daemon's order.  Waiting for it never holds up a key.

;;; Code:

(require 'livedex-hit)

(autoload 'livedex-consult "livedex-consult" nil t)
(autoload 'livedex-follow "livedex-follow" nil t)

(defcustom livedex-limit 30
  "The number of hits in a list that changes as you type."
  :type 'natnum
  :group 'livedex)

;;; As you type

(defvar icomplete-compute-delay)
(defvar icomplete-max-delay-chars)

(defvar-keymap livedex-minibuffer-map
  :doc "Keys of the minibuffer while it searches; the others are as usual."
  "SPC" #'self-insert-command
  "?" #'self-insert-command)

(defvar-local livedex--listed nil
  "What was typed when *Completions* was made.")

(defun livedex-typing-params (query &optional params)
  "Return the params of a search for QUERY while it is typed, with PARAMS."
  `(:query ,query :limit ,livedex-limit :typing t :supersedes "typing"
           ,@params))

(defun livedex-candidates (result query folder)
  "Return the hits of RESULT, the answer to QUERY, as `path:line:text'.
Paths are shown relative to FOLDER."
  (mapcar (lambda (hit) (livedex--candidate hit query folder))
          (livedex-hit-all result)))

(defun livedex-search-candidates (query folder &optional params)
  "Search for QUERY with PARAMS; return the hits as `livedex-candidates'.
FOLDER is as there.  A fault is shown, not signalled, since an error
would end the list."
  (condition-case fault
      (livedex-candidates
       (livedex-daemon-ask :search (livedex-typing-params query params))
       query folder)
    (error (message "livedex: %s" (error-message-string fault))
           nil)))

(defun livedex--candidate (hit query folder)
  "Return HIT of QUERY as a line; its file is shown relative to FOLDER."
  (let ((line (concat
               (propertize (livedex-hit-name (livedex-hit-path hit) folder)
                           'face 'compilation-info)
               ":"
               (propertize (number-to-string (plist-get hit :line))
                           'face 'compilation-line-number)
               ":"
               (livedex-hit-text hit 'face 'match))))
    (add-text-properties 0 1 (list 'livedex-hit hit 'livedex-query query) line)
    line))

;; Emacs 29 and 30 lose keys here: if a terminal gives several at once,
;; `while-no-input' takes those behind the second one for nothing, since
;; looking through a list of events to ignore ends the reading of keys.
(defun livedex-ignored-events ()
  "Return `while-no-input-ignore-events' for the display in use."
  (and (display-graphic-p) while-no-input-ignore-events))

(defun livedex--table (params)
  "Return a completion table of the hits of what is typed.
It keeps the daemon's order and leaves nothing out.  PARAMS are further
ones of `search'."
  (let ((folder (livedex-hit-folder)) asked found)
    (lambda (input _predicate action)
      (pcase action
        ('metadata '(metadata (category . livedex)
                              (display-sort-function . identity)
                              (cycle-sort-function . identity)))
        ('t (unless (or (equal input asked) (member input found))
              (setq found (livedex-search-candidates input folder params)
                    asked input))
            (copy-sequence found))
        ('lambda (member input found))
        ('nil input)))))

(defun livedex--try-completion (input _table _predicate point)
  "Return INPUT and POINT as they are: only the user completes a query."
  (cons input point))

(defun livedex--all-completions (input table predicate _point)
  "Return what TABLE has for INPUT and PREDICATE, as it stands."
  (all-completions input table predicate))

(add-to-list 'completion-styles-alist
             '(livedex livedex--try-completion livedex--all-completions
                       "The answer of livedex as it stands."))

(defun livedex--completions-by-hand-p ()
  "Return non-nil if no mode lists completions while one types."
  (and (eq completing-read-function #'completing-read-default)
       (not (seq-some (lambda (mode) (and (boundp mode) (symbol-value mode)))
                      '(icomplete-mode mct-mode vertico-mode)))))

(defun livedex--list-completions ()
  "List the hits of what is typed in *Completions*, unless a key waits.
If it is another event that waits, no command may follow it: then it
tries again once Emacs is idle."
  (let ((input (minibuffer-contents-no-properties))
        (table minibuffer-completion-table)
        (completion-fail-discreetly t))
    (unless (or (equal input livedex--listed)
                (test-completion input table)) ; one of the list was chosen
      (if (while-no-input (all-completions input table) nil)
          (run-with-idle-timer 0 nil #'livedex--list-again (current-buffer))
        (setq livedex--listed input)
        (minibuffer-completion-help)))))

(defun livedex--list-again (minibuffer)
  "List the hits of what is typed in MINIBUFFER if it is still the one."
  (when-let ((window (active-minibuffer-window)))
    (with-selected-window window
      (when (eq (current-buffer) minibuffer)
        (livedex--list-completions)))))

(defun livedex--read (params)
  "Search as the user types, and return a hit, or nil.
PARAMS are further ones of `search'."
  (let* ((table (livedex--table params))
         (symbol (thing-at-point 'symbol t))
         (by-hand (livedex--completions-by-hand-p))
         (typed "")
         (history-add-new-input nil)
         (while-no-input-ignore-events (livedex-ignored-events))
         (completions-format 'one-column)
         (completions-max-height (or completions-max-height 15))
         ;; Not in `completion-category-defaults', which fido clears.
         (completion-category-overrides
          (cons '(livedex (styles livedex)) completion-category-overrides))
         (minibuffer-local-completion-map
          (make-composed-keymap livedex-minibuffer-map
                                minibuffer-local-completion-map)))
    (livedex--chosen
     (minibuffer-with-setup-hook
         (lambda ()
           (setq-local truncate-lines t
                       icomplete-compute-delay 0 ; a key ends a search
                       icomplete-max-delay-chars 0
                       minibuffer-default-add-function
                       (lambda () (and symbol (list symbol))))
           (add-hook 'pre-command-hook
                     (lambda ()
                       (setq typed (minibuffer-contents-no-properties)))
                     nil t)
           (when by-hand
             (add-hook 'post-command-hook #'livedex--list-completions 90 t)))
       (completing-read "Search: " table nil nil nil 'livedex-history))
     typed table params)))

(defun livedex--chosen (choice typed table params)
  "Return the hit that was meant by CHOICE, which ended the minibuffer.
TYPED was in it before the last key.  If TABLE has not listed CHOICE for
that, it is the best hit of TYPED with PARAMS, or nil."
  (let* ((listed (and (test-completion choice table)
                      (car (member choice (all-completions choice table)))))
         (query (and listed (get-text-property 0 'livedex-query listed)))
         (meant (and listed (or (equal query typed)
                                (test-completion typed table)))))
    (unless (string-empty-p typed)
      (add-to-history 'livedex-history (if meant query typed)))
    (if meant
        (get-text-property 0 'livedex-hit listed)
      (car (apply #'livedex-hit-search typed 1 :typing t params)))))

;;;###autoload
(defun livedex (&optional folder)
  "Search as you type in the minibuffer, and open the hit.
With a prefix argument only below FOLDER, which is read first.

A query has words, \"exact phrases\", prefix*, -without, and terms such
as path:src, ext:py or lang:python.  It finds every save made before."
  (interactive (list (and current-prefix-arg
                          (read-directory-name "Search below: " nil nil t))))
  (livedex-open-hit
   (livedex--read
    (and folder
         (list :path (directory-file-name (expand-file-name folder)))))))

(defun livedex-open-hit (hit)
  "Open the file of HIT at its place; if it is nil, say so."
  (unless hit
    (user-error "Nothing found"))
  (xref-pop-to-location (livedex--xref hit)))

;;; xref

(defun livedex--xref (hit)
  "Return HIT for xref."
  (xref-make (livedex-hit-text hit 'face 'xref-match)
             (livedex-hit-location hit)))

(defun livedex--xrefs (query &rest params)
  "Return the hits of QUERY for xref; PARAMS are further ones of `search'."
  (mapcar #'livedex--xref
          (apply #'livedex-hit-search query livedex-hit-most params)))

;;;###autoload
(defun livedex-xref (query)
  "List the hits of QUERY in an xref buffer; \\`g' there repeats the search."
  (interactive (list (livedex-hit-read-query)))
  (xref-show-xrefs (lambda ()
                     (or (livedex--xrefs query)
                         (user-error "Nothing found for: %s" query)))
                   nil))

;;;###autoload
(defun livedex-xref-backend ()
  "Find definitions and references with livedex.
Add this to `xref-backend-functions'."
  'livedex)

(cl-defmethod xref-backend-identifier-completion-table
  ((_backend (eql 'livedex)))
  "Return nil: names are not completed."
  nil)

(cl-defmethod xref-backend-definitions ((_backend (eql 'livedex)) identifier)
  "Return the places that define IDENTIFIER."
  (let ((last (concat "\\(?:\\`\\|[^[:alnum:]_]\\)" (regexp-quote identifier)
                      "\\'")))
    (mapcar #'livedex--xref
            (seq-filter (lambda (hit)
                          (string-match-p last (or (plist-get hit :symbol) "")))
                        (livedex-hit-search identifier livedex-limit)))))

(cl-defmethod xref-backend-references ((_backend (eql 'livedex)) identifier)
  "Return the lines that have IDENTIFIER as a word."
  (livedex--xrefs identifier :mode "exact" :whole_words t
                  :letter_case "sensitive"))

(cl-defmethod xref-backend-apropos ((_backend (eql 'livedex)) pattern)
  "Return the hits of PATTERN, which is a query."
  (livedex--xrefs pattern))

(provide 'livedex)
;;; livedex.el ends here
