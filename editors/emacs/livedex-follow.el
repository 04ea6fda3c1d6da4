;;; livedex-follow.el --- A buffer that follows its query  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The livedex authors

;; Author: The livedex authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `livedex-follow' shows the hits of a query as `grep' would, and keeps
;; them up to date: the daemon tells what enters and leaves the result.
;; If the daemon is restarted, the buffer says so, connects again and
;; takes up what has changed.

;;; Code:

(require 'grep)
(require 'livedex-hit)

(defvar-local livedex-follow--query nil
  "The query of this buffer, or nil if it follows none.")

(defvar-local livedex-follow--subscription nil
  "The daemon's number for the query of this buffer, or nil.")

(defvar-local livedex-follow--lack nil
  "Why the hits of this buffer are not up to date yet, or nil if they are.")

(defvar-local livedex-follow--files nil
  "The files of this buffer: a hash table from paths to (path . hits).
The text of a file has this very list as its property `livedex-file'.")

(defvar livedex-follow--pause 0.1
  "Seconds after which the daemon is looked for once more.")

(defvar-keymap livedex-follow-mode-map
  :doc "Keys of a buffer that follows its query."
  "g" #'revert-buffer)

(define-derived-mode livedex-follow-mode grep-mode "Livedex"
  "A list of hits that changes with the files.
Entries are those of `grep-mode': `next-error' visits them.  A file that
is saved keeps its place in the list; others come at the top."
  (setq-local livedex-follow--files (make-hash-table :test #'equal)
              grep-highlight-matches t
              revert-buffer-function #'livedex-follow--subscribe
              header-line-format '(:eval (livedex-follow--header))
              mode-line-process nil)
  (buffer-disable-undo)
  (add-hook 'kill-buffer-hook #'livedex-follow--unsubscribe nil t))

;;;###autoload
(defun livedex-follow (query)
  "Show the hits of QUERY in a buffer that is kept up to date.
It finds what has all words of QUERY; there \\`g' begins again."
  (interactive (list (livedex-hit-read-query)))
  (let ((folder default-directory)
        (buffer (get-buffer-create (format "*livedex: %s*" query))))
    (with-current-buffer buffer
      (unless (derived-mode-p 'livedex-follow-mode)
        (setq default-directory folder)
        (livedex-follow-mode)
        (setq livedex-follow--query query))
      (livedex-follow--subscribe))
    (pop-to-buffer buffer)))

(defun livedex-follow--header ()
  "Return the header line: the query, the number of hits and the state."
  (let ((count 0))
    (maphash (lambda (_path file) (setq count (+ count (length (cdr file)))))
             livedex-follow--files)
    (format " %s · %d %s · %s"
            (string-replace "%" "%%" livedex-follow--query)
            count (if (= count 1) "hit" "hits")
            (cond
             ((null livedex-follow--subscription)
              (concat "not up to date: " (or livedex-daemon-fault "connecting")))
             (livedex-follow--lack
              (concat "not up to date: " livedex-follow--lack))
             ("following")))))

;;; The subscription

(defun livedex-follow--buffers ()
  "Return the buffers that follow a query."
  (seq-filter (lambda (buffer)
                (buffer-local-value 'livedex-follow--query buffer))
              (buffer-list)))

(defun livedex-follow--subscribe (&rest _)
  "Ask the daemon for the hits of this buffer, and for each change."
  (if (livedex-daemon-connected-p)
      (let ((buffer (current-buffer)))
        (livedex-daemon-send
         :search/subscribe
         `(:query ,livedex-follow--query :limit ,livedex-hit-most)
         (lambda (result fault)
           (if (buffer-live-p buffer)
               (with-current-buffer buffer
                 (livedex-follow--begin result fault))
             (livedex-follow--end (plist-get result :subscription))))))
    (livedex-daemon-connect)))

(defun livedex-follow--end (subscription)
  "Have the daemon tell nothing more of SUBSCRIPTION."
  (when (and subscription (livedex-daemon-connected-p))
    (livedex-daemon-send :search/unsubscribe
                         (list :subscription subscription) #'ignore)))

(defun livedex-follow--unsubscribe ()
  "Have the daemon tell nothing more of this buffer."
  (livedex-follow--end livedex-follow--subscription)
  (setq livedex-follow--subscription nil))

(defun livedex-follow--begin (result fault)
  "Show the hits of RESULT, the answer to a subscription; or its FAULT."
  (livedex-follow--unsubscribe)
  (cond
   ((null fault)
    (setq livedex-follow--subscription (plist-get result :subscription)
          livedex-follow--lack (plist-get result :reason))
    (livedex-follow--change
     (apply #'append (mapcar #'cdr (hash-table-values livedex-follow--files)))
     (reverse (plist-get result :hits))))
   ((not (eq fault 'lost))
    (message "livedex: %s" (plist-get fault :message)))))

(defun livedex-follow--notified (method params)
  "Show the change that a notification of METHOD with PARAMS reports."
  (when (eq method 'search/changed)
    (dolist (buffer (livedex-follow--buffers))
      (with-current-buffer buffer
        (when (equal livedex-follow--subscription
                     (plist-get params :subscription))
          (when (eq (plist-get params :fresh) t)
            (setq livedex-follow--lack nil)
            (force-mode-line-update))
          (livedex-follow--change (plist-get params :removed)
                                  (plist-get params :added)))))))

(defun livedex-follow--state-changed ()
  "Follow again what was followed, once the daemon is there."
  (let ((buffers (livedex-follow--buffers))
        (connected (livedex-daemon-connected-p)))
    (dolist (buffer buffers)
      (with-current-buffer buffer
        (setq livedex-follow--subscription nil)
        (when connected
          (livedex-follow--subscribe))))
    (force-mode-line-update t)
    (cond
     (connected
      (setq livedex-follow--pause 0.1))
     (buffers
      (run-at-time livedex-follow--pause nil #'livedex-daemon-connect)
      (setq livedex-follow--pause (min 60 (* 2 livedex-follow--pause)))))))

(add-hook 'livedex-daemon-notification-functions #'livedex-follow--notified)
(add-hook 'livedex-daemon-state-hook #'livedex-follow--state-changed)

;;; The list

(defun livedex-follow--change (removed added)
  "Take the hits REMOVED off this buffer, and put those ADDED into it.
Both are sequences; of new files, the last comes first."
  (let (files)
    (seq-doseq (hit removed)
      (let ((file (livedex-follow--file hit)))
        (push file files)
        (setcdr file (seq-remove
                      (lambda (old) (livedex-follow--same-p old hit))
                      (cdr file)))))
    (seq-doseq (hit added)
      (let ((file (livedex-follow--file hit)))
        (push file files)
        (push hit (cdr file))))
    (mapc #'livedex-follow--show (seq-uniq (nreverse files) #'eq))
    (force-mode-line-update)))

(defun livedex-follow--file (hit)
  "Return the file of HIT, a new one if it has none here."
  (with-memoization (gethash (livedex-hit-path hit) livedex-follow--files)
    (list (livedex-hit-path hit))))

(defun livedex-follow--same-p (hit other)
  "Return non-nil if HIT and OTHER are the same part of one state of a file."
  (seq-every-p (lambda (key) (equal (plist-get hit key) (plist-get other key)))
               '(:start_line :end_line :kind :content_hash)))

(defun livedex-follow--show (file)
  "Show the hits of FILE as they are now.
Point and the place of `next-error' stay at what they are on."
  (pcase-let* ((`(,path . ,hits) file)
               (inhibit-read-only t)
               (name (livedex-hit-name path (livedex-hit-folder)))
               (text (mapconcat
                      (lambda (hit) (livedex-follow--line hit name file))
                      (seq-sort-by (lambda (hit) (plist-get hit :line)) #'<
                                   hits))))
    (unless hits
      (remhash path livedex-follow--files))
    (save-excursion
      (goto-char (point-min))
      (let ((old (text-property-search-forward 'livedex-file file #'eq)))
        (if old
            (replace-region-contents (prop-match-beginning old)
                                     (prop-match-end old)
                                     (lambda () text))
          (goto-char (point-min))
          (insert text))))))

(defun livedex-follow--line (hit name file)
  "Return the line of HIT, in FILE that is shown as NAME.
`grep-mode' shows the NUL as a colon; names may have colons, too."
  (propertize
   (format "%s\0%d:%s\n" name (plist-get hit :line)
           (livedex-hit-text hit 'font-lock-face grep-match-face))
   'livedex-file file))

(provide 'livedex-follow)
;;; livedex-follow.el ends here
