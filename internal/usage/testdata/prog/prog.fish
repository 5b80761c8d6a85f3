# fish completion for prog
complete -c prog -n 'not __fish_seen_subcommand_from list' -l strict -d '.starts with a dot'
complete -c prog -n 'not __fish_seen_subcommand_from list' -s h -l help -d 'Show context-sensitive help'
complete -c prog -n 'not __fish_seen_subcommand_from list' -s o -l output -d 'Write to FILE, it\'s [new]: $HOME "quoted"' -r -F
complete -c prog -n 'not __fish_seen_subcommand_from list' -l dir -d 'Look in DIR' -x -a '(__fish_complete_directories)'
complete -c prog -n 'not __fish_seen_subcommand_from list' -l mode -d 'How: \\ fast or safe' -x -a 'fast safe'
complete -c prog -n 'not __fish_seen_subcommand_from list' -s l -l limit -d 'At most N' -x
complete -c prog -n '__fish_use_subcommand' -a list -d 'Show what\'s there'
complete -c prog -n '__fish_seen_subcommand_from list' -s L -l long -d '\'More\''
complete -c prog -n '__fish_seen_subcommand_from list' -s h -l help -d 'Show context-sensitive help'
complete -c prog -n '__fish_seen_subcommand_from list' -s o -l output -d 'Write to FILE, it\'s [new]: $HOME "quoted"' -r -F
complete -c prog -n '__fish_seen_subcommand_from list' -l dir -d 'Look in DIR' -x -a '(__fish_complete_directories)'
complete -c prog -n '__fish_seen_subcommand_from list' -l mode -d 'How: \\ fast or safe' -x -a 'fast safe'
complete -c prog -n '__fish_seen_subcommand_from list' -s l -l limit -d 'At most N' -x
