# bash completion for prog

_symkit_prog() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' i flags

	# Readline splits --flag=value at the equals sign.
	if [[ $cur == = ]]; then
		cur=''
	elif [[ $prev == = && COMP_CWORD -ge 2 ]]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	COMPREPLY=()

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-*) ;;
		check|list) command=${COMP_WORDS[i]}; break ;;
		*) command=check; break ;;
		esac
	done

	case $command:$prev in
	*:--output|*:-o) return ;;
	*:--dir) compopt -o dirnames +o default +o bashdefault; return ;;
	*:--mode) COMPREPLY=($(compgen -W 'fast safe' -- "$cur")); return ;;
	*:--limit|*:-l) compopt +o default +o bashdefault; return ;;
	esac

	if [[ $cur == -* ]]; then
		flags='--help --output --dir --mode --limit'
		case $command in
		check|'') flags+=' --strict' ;;
		list) flags+=' --long' ;;
		esac
		COMPREPLY=($(compgen -W "$flags" -- "$cur"))
	elif [[ -z $command ]]; then
		COMPREPLY=($(compgen -W 'check list' -- "$cur") $(compgen -f -- "$cur"))
	fi
} &&
complete -o bashdefault -o default -F _symkit_prog prog
