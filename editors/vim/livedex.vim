" :Livedex WORDS puts the hits into the quickfix list; the search terms are those of `livedex search`.
command! -nargs=+ Livedex
      \ cgetexpr systemlist('livedex search --vimgrep --limit 100 -- ' .. shellescape(<q-args>)) | botright cwindow

" :grep does the same with the shell's rules: quotes and options reach the command.
set grepprg=livedex\ search\ --vimgrep grepformat=%f:%l:%c:%m
