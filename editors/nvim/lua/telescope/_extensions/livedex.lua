-- `:Telescope livedex`, after require('telescope').load_extension('livedex').
return require('telescope').register_extension({
  exports = {
    livedex = function(opts)
      require('livedex.pick.telescope')({}, (opts or {}).default_text or '', opts)
    end,
  },
})
