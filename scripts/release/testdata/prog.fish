# fish completion for prog
complete -c prog -s h -l help -d 'Show context-sensitive help'
complete -c prog -s o -l output -d 'Write to FILE, it\'s [new]: $HOME "quoted"' -r -F
complete -c prog -l dir -d 'Look in DIR' -x -a '(__fish_complete_directories)'
complete -c prog -l mode -d 'How: \\ fast or safe' -x -a 'fast safe'
complete -c prog -s l -l limit -d 'At most N' -x
complete -c prog -n __fish_use_subcommand -a check -d 'Verify it: all of it (the default)'
complete -c prog -n 'not __fish_seen_subcommand_from list' -l strict -d '.starts with a dot'
complete -c prog -n __fish_use_subcommand -a list -d 'Show what\'s there'
complete -c prog -n '__fish_seen_subcommand_from list' -s L -l long -d '\'More\''
