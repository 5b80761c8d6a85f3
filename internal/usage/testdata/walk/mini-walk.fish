# fish completion for mini-walk
complete -c mini-walk -s f -d 'How' -x -a 'a b'
complete -c mini-walk -s m -d 'More'
