# fish completion for walk
complete -c walk -n 'not contains -- (commandline -opc)[2] \'\' diff' -s h -l help -d 'Show context-sensitive help'
complete -c walk -n 'not contains -- (commandline -opc)[2] \'\' diff' -l exe -d 'The program' -r -F
complete -c walk -n 'test (count (commandline -opc)) = 1' -a diff -d 'Compare two results'
complete -c walk -n 'contains -- (commandline -opc)[2] \'\' diff' -l fail-on -d 'Kinds' -x
