;;; livedex-daemon.el --- Ask the daemon of livedex  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The livedex authors

;; Author: The livedex authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; One connection for all of Emacs.  It is made when something is asked,
;; by way of `livedex socket', which starts the daemon if none runs; and
;; made anew when the daemon was restarted.  Nothing runs while nothing is
;; asked.

;;; Code:

(require 'jsonrpc)
(require 'subr-x)

(defgroup livedex nil
  "Search that is always fresh."
  :group 'tools
  :prefix "livedex-")

(defcustom livedex-program "livedex"
  "The command of livedex, which starts the daemon if none runs."
  :type 'string)

(defvar livedex-daemon-state-hook nil
  "Functions to call when the connection is made, lost or not possible.")

(defvar livedex-daemon-notification-functions nil
  "Functions that get a notification: its method, a symbol, and params.")

(defvar livedex-daemon-fault nil
  "Why there is no connection: a text, or nil.")

(defvar livedex-daemon--connection nil
  "The connection, or nil.")

(defvar livedex-daemon--starting nil
  "The process of `livedex socket' while it runs, or nil.")

(defvar livedex-daemon--waiting nil
  "Functions to call once it is known whether there is a connection.")

(defun livedex-daemon-connected-p ()
  "Return non-nil if the daemon can be asked."
  (and livedex-daemon--connection
       (jsonrpc-running-p livedex-daemon--connection)))

(defun livedex-daemon-connect ()
  "Begin to connect to the daemon; if there is none, one is started."
  (livedex-daemon--take-start)
  (unless (or livedex-daemon--starting (livedex-daemon-connected-p))
    (let ((default-directory temporary-file-directory) ; this one exists
          (inhibit-quit t)) ; a key must not come between
      (condition-case fault
          (setq livedex-daemon--starting
                (make-process
                 :name "livedex socket" :command (list livedex-program "socket")
                 :buffer (generate-new-buffer " *livedex socket*")
                 :connection-type 'pipe :noquery t
                 :sentinel (lambda (&rest _) (livedex-daemon--take-start))))
        (error (livedex-daemon--changed (error-message-string fault)))))))

;; Not by the sentinel alone: if a key comes just as a process has ended,
;; inside of `while-no-input', Emacs never calls it.
(defun livedex-daemon--take-start ()
  "Connect once `livedex socket' has ended, unless that was done."
  (let ((process livedex-daemon--starting)
        (inhibit-quit t))
    (when (and process (not (process-live-p process)))
      (while (accept-process-output process 0)) ; this may call the sentinel
      (when (eq process livedex-daemon--starting)
        (livedex-daemon--started process)))))

(defun livedex-daemon--started (process)
  "Connect to the socket whose path PROCESS has printed."
  (setq livedex-daemon--starting nil)
  (livedex-daemon--changed
   (with-current-buffer (process-buffer process)
     (goto-char (point-min))
     (prog1 (condition-case fault
                (if (not (and (zerop (process-exit-status process))
                              (re-search-forward "^/.+$" nil t)))
                    (string-remove-prefix "livedex: "
                                          (string-trim (buffer-string)))
                  (setq livedex-daemon--connection
                        (livedex-daemon--open (match-string 0)))
                  nil)
              (error (error-message-string fault)))
       (kill-buffer)))))

(defun livedex-daemon--changed (fault)
  "Let everyone know that there is a connection, or the FAULT if not.
Who waits for one that is being made goes on waiting: what was asked as
the former one was lost is asked again before its loss is told."
  (setq livedex-daemon-fault fault)
  (unless livedex-daemon--starting
    (let ((waiting (nreverse livedex-daemon--waiting)))
      (setq livedex-daemon--waiting nil)
      (mapc #'funcall waiting)))
  (run-hooks 'livedex-daemon-state-hook))

(defun livedex-daemon--open (socket)
  "Return a connection to the daemon at SOCKET."
  (apply #'make-instance 'jsonrpc-process-connection
         :name "livedex"
         :process (lambda ()
                    (make-network-process
                     :name "livedex" :family 'local :service socket
                     :coding 'utf-8-emacs-unix :noquery t))
         :notification-dispatcher
         (lambda (_connection method params)
           (run-hook-with-args 'livedex-daemon-notification-functions
                               method params))
         :on-shutdown #'livedex-daemon--lost
         (if (>= emacs-major-version 30) ; keep no log of messages
             '(:events-buffer-config (:size 0))
           '(:events-buffer-scrollback-size 0))))

(defun livedex-daemon--lost (connection)
  "Forget CONNECTION, which has ended."
  (kill-buffer (jsonrpc-events-buffer connection))
  (when (eq connection livedex-daemon--connection)
    (setq livedex-daemon--connection nil)
    (livedex-daemon--changed "the daemon has ended")))

(defun livedex-daemon-send (method params then)
  "Send a request: METHOD with PARAMS.
THEN is called with its result and nil, or with nil and the fault, a
property list, or `lost' if there is no connection."
  (let ((inhibit-quit t)) ; a key must not cut the request
    (condition-case nil
        (jsonrpc-async-request
         livedex-daemon--connection method params
         :success-fn (lambda (result)
                       (funcall then result nil)
                       (livedex-daemon--end-wait))
         :error-fn (lambda (fault)
                     (funcall then nil
                              (if (livedex-daemon-connected-p) fault 'lost)))
         :timeout-fn (lambda ()
                       (funcall then nil
                                '(:message "the daemon does not answer"))))
      (error (funcall then nil 'lost)))))

(defun livedex-daemon-request (method params then &optional again)
  "Send a request: METHOD with PARAMS; connect if need be.
THEN is called as by `livedex-daemon-send', but never with `lost': if the
connection is lost, the request is sent once more, unless it is AGAIN."
  (if (livedex-daemon-connected-p)
      (livedex-daemon-send
       method params
       (lambda (result fault)
         (cond
          ((not (eq fault 'lost)) (funcall then result fault))
          (again (funcall then nil (list :message "the daemon has ended")))
          (t (livedex-daemon-request method params then t)))))
    (push (lambda ()
            (if (livedex-daemon-connected-p)
                (livedex-daemon-request method params then again)
              (funcall then nil (list :message livedex-daemon-fault))))
          livedex-daemon--waiting)
    (livedex-daemon-connect)))

(defun livedex-daemon-ask (method params)
  "Return the result of METHOD with PARAMS.
Keys that are typed meanwhile are shown, and end the wait inside of
`while-no-input'."
  (let (answer)
    (livedex-daemon-request method params
                            (lambda (&rest both) (setq answer both)))
    (while (not answer)
      (livedex-daemon--wait))
    (pcase-let ((`(,result ,fault) answer))
      (when fault
        (error "%s" (plist-get fault :message)))
      result)))

(defvar livedex-daemon--in-wait nil
  "Non-nil while Emacs waits for answers.")

(defun livedex-daemon--wait ()
  "Let answers in.  Show meanwhile what is typed."
  (unless (catch 'livedex-daemon-answered
            (let ((livedex-daemon--in-wait t))
              (accept-process-output nil 0.05)))
    (redisplay))
  (livedex-daemon--take-start))

;; After output, Emacs would wait 10 ms for more.
(defun livedex-daemon--end-wait ()
  "End the wait that an answer has come in, as `jsonrpc-request' does."
  (when livedex-daemon--in-wait
    (throw 'livedex-daemon-answered t)))

(provide 'livedex-daemon)
;;; livedex-daemon.el ends here
