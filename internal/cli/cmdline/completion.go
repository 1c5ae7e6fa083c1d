// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cmdline

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Shells are the names of shells for which there is completion, sorted.
func Shells() []string { return slices.Sorted(maps.Keys(completionScripts)) }

var completionScripts = map[string]func(program string, all []completable) string{
	"bash": bashCompletion,
	"zsh":  zshCompletion,
	"fish": fishCompletion,
}

// Completion returns the script with which one of [Shells] completes commands, options, values of
// options where they are known, and files.
func (p *Program[S]) Completion(shell string) string {
	return completionScripts[shell](p.Root.Name, p.completables())
}

// completable is a command line as far as its commands go, and its possible continuations.
type completable struct {
	path     []string // names of commands, without that of the program
	commands []named
	options  []*flag.Flag
	words    []string // positional arguments that are known
	files    bool     // positional arguments are files
	lister   lister   // of positional arguments
	programs bool     // after "--" there is a command with its arguments

	listers map[string]lister // of values of options, by the names of these
}

// lister is a command of the program that prints one word a line. The zero value is none.
type lister struct {
	command string
	passed  []string // options that it takes over from the command line
}

// passable are the options that name the subject of a command, on which the names to list depend.
var passable = []string{"chdir", "state", "deployment"}

func (p *Program[S]) completables() []completable {
	var all []completable
	var add func(c *Command[S], path []string)
	listers := map[string]lister{}
	for option, command := range p.ListedValues {
		listers[option] = p.lister(command)
	}
	add = func(c *Command[S], path []string) {
		entry := completable{path: path, listers: listers, commands: namesOf(c.Commands), words: knownWords(c.Args), programs: c.PassesOn}
		first, _, _ := strings.Cut(c.Args, " ")
		entry.lister = p.lister(p.ListedArgs[strings.Trim(first, "[]")])
		entry.files = slices.ContainsFunc(p.FileArgs, func(word string) bool { return strings.Contains(c.Args, word) })
		entry.options = p.Options(c)
		all = append(all, entry)
		for _, sub := range c.Commands {
			add(sub, append(slices.Clone(path), sub.Name))
		}
	}
	add(p.Root, nil)
	// The command help has the names of all others as its arguments.
	for i, c := range all {
		if len(c.path) == 1 && c.path[0] == "help" {
			all[i].commands = slices.DeleteFunc(namesOf(p.Root.Commands), func(sub named) bool { return sub.name == "help" })
		}
	}
	for _, c := range p.Root.Commands {
		if len(c.Commands) > 0 {
			all = append(all, completable{path: []string{"help", c.Name}, commands: namesOf(c.Commands)})
		}
	}
	return all
}

// lister returns the lister of a command of the program, with the options that can be passed to it.
func (p *Program[S]) lister(command string) lister {
	at := p.Root
	for word := range strings.FieldsSeq(command) {
		if i := slices.IndexFunc(at.Commands, func(c *Command[S]) bool { return c.Name == word }); i >= 0 {
			at = at.Commands[i]
		}
	}
	found := lister{command: command}
	for _, option := range p.Options(at) {
		if command != "" && slices.Contains(passable, option.Name) {
			found.passed = append(found.passed, option.Name)
		}
	}
	return found
}

// call is the call by which the scripts for bash and zsh list words.
func (l lister) call() string {
	return "_listed " + ShellQuote(l.command) + " " + ShellQuote(strings.Join(l.passed, " "))
}

func namesOf[S any](commands []*Command[S]) []named {
	names := make([]named, len(commands))
	for i, c := range commands {
		names[i] = named{c.Name, c.Summary}
	}
	return names
}

// knownWords are the arguments that a usage line spells out, as in "bash|zsh|fish" or
// "[terraform|tofu] [VERSION]".
func knownWords(args string) []string {
	first, _, _ := strings.Cut(args, " ")
	return alternatives(strings.Trim(first, "[]"))
}

// alternatives are the words of "a|b|c-d". Anything but lower case and hyphens stands for
// something else.
func alternatives(text string) []string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyz-|") != "" || !strings.Contains(text, "|") {
		return nil
	}
	return strings.Split(text, "|")
}

// named is a command as lists show it.
type named struct{ name, summary string }

// typed is the path as the scripts note it.
func (c completable) typed() string {
	if len(c.path) == 0 {
		return ""
	}
	return " " + strings.Join(c.path, " ")
}

// following are the words that may follow, options with the sign that asks for their value.
func (c completable) following() []string {
	words := slices.Clone(c.words)
	for _, sub := range c.commands {
		words = append(words, sub.name)
	}
	for _, option := range c.options {
		word := "-" + option.Name
		if !isBool(option) {
			word += "="
		}
		words = append(words, word)
	}
	return words
}

// optionValues are the possible values of an option.
type optionValues struct {
	words  []string // the values, where they are known
	files  bool
	lister lister
}

// valuesOf finds the values of an option from the placeholder in its help text: words in lower case
// stand for themselves.
func (c completable) valuesOf(option *flag.Flag) optionValues {
	if found, ok := c.listers[option.Name]; ok {
		return optionValues{lister: found}
	}
	placeholder, _ := flag.UnquoteUsage(option)
	switch placeholder {
	case "FILE", "DIR", "BINARY", "PATH":
		return optionValues{files: true}
	}
	if takesNone(option) {
		return optionValues{words: []string{"false", "true"}}
	}
	return optionValues{words: alternatives(placeholder)}
}

// takesNone reports whether an option may stand without a value, so that the next word is something
// else.
func takesNone(option *flag.Flag) bool {
	value, ok := option.Value.(interface{ IsBoolFlag() bool })
	return ok && value.IsBoolFlag()
}

// valueCases are lines of a case over a path as it is typed, a space, and an option that takes a
// value: one for each set of values.
func valueCases(all []completable, line func(optionValues) string) string {
	type use struct{ typed, values string }
	uses, values := map[string][]use{}, map[string]optionValues{}
	for _, c := range all {
		for _, option := range c.options {
			if takesNone(option) {
				continue
			}
			v := c.valuesOf(option)
			key := fmt.Sprint(v.words, v.files, v.lister.command)
			values[key] = v
			uses[option.Name] = append(uses[option.Name], use{c.typed(), key})
		}
	}
	patterns := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		first := uses[name][0].values
		if !slices.ContainsFunc(uses[name], func(u use) bool { return u.values != first }) {
			patterns[first] = append(patterns[first], `*" -`+name+`"`) // the same of all commands
			continue
		}
		for _, u := range uses[name] {
			patterns[u.values] = append(patterns[u.values], `"`+u.typed+" -"+name+`"`)
		}
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(patterns)) {
		fmt.Fprintf(&b, "      %s) %s ;;\n", strings.Join(patterns[key], "|"), line(values[key]))
	}
	return b.String()
}

func bashCompletion(program string, all []completable) string {
	var b strings.Builder
	b.WriteString("# bash completion for " + program + "\n_" + program + `() {
  local current=${COMP_WORDS[COMP_CWORD]} typed="" word words="" files="" lister="" programs="" dashes=0
  local i value chdir="" state="" deployment=""
  _listed() {
    local name passed=()
    for name in $2; do
      [[ -n ${!name} ]] && passed+=("-$name=${!name}")
    done
    while IFS= read -r word; do
      [[ $word == "$current"* ]] && COMPREPLY+=("$(printf %q "$word")")
    done < <("${COMP_WORDS[0]}" $1 "${passed[@]}" 2>/dev/null)
  }
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == "--" ]]; then
      dashes=$i
      break
    fi
    value=$((i + 1))
    [[ ${COMP_WORDS[value]} == "=" ]] && value=$((i + 2))
    if ((value < COMP_CWORD)); then
      case "${word/#--/-}" in
`)
	for _, name := range passable {
		fmt.Fprintf(&b, "        -%[1]s) %[1]s=${COMP_WORDS[value]} ;;\n", name)
	}
	b.WriteString(`      esac
    fi
    case "$typed $word" in
`)
	writePaths(&b, all)
	b.WriteString(`    esac
  done
  case "$typed" in
`)
	for _, c := range all {
		fmt.Fprintf(&b, "    \"%s\") words=\"%s\"%s ;;\n", c.typed(), strings.Join(c.following(), " "), c.marks())
	}
	b.WriteString(`  esac
  if ((dashes)); then
    if [[ -n $programs ]]; then
      compopt -o filenames 2>/dev/null
      if ((COMP_CWORD == dashes + 1)); then
        COMPREPLY=($(compgen -c -- "$current"))
      else
        COMPREPLY=($(compgen -f -- "$current"))
      fi
      return
    fi
    words=""
  fi
  local option="" sign=""
  if [[ $current == "=" ]]; then
    option=${COMP_WORDS[COMP_CWORD-1]} sign="=" current=""
  elif [[ ${COMP_WORDS[COMP_CWORD-1]} == "=" ]]; then
    option=${COMP_WORDS[COMP_CWORD-2]} sign="="
  elif [[ ${COMP_WORDS[COMP_CWORD-1]} == -* ]]; then
    option=${COMP_WORDS[COMP_CWORD-1]}
  fi
  if [[ -n $option ]]; then
    case "$typed ${option/#--/-}" in
`)
	b.WriteString(valueCases(all, func(v optionValues) string {
		if v.files {
			return `compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); return`
		}
		if v.lister.command != "" {
			return v.lister.call() + "; return"
		}
		return fmt.Sprintf(`COMPREPLY=($(compgen -W %s -- "$current")); return`, ShellQuote(strings.Join(v.words, " ")))
	}))
	b.WriteString(`    esac
    case $sign in
      =) COMPREPLY=($(compgen -W 'false true' -- "$current")); return ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ -n $lister && $current != -* ]]; then
    eval "$lister"
  fi
  if [[ -n $files && $current != -* ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$current"))
  fi
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace
  fi
}
`)
	fmt.Fprintf(&b, "complete -F _%[1]s %[1]s\n", program)
	return b.String()
}

// writePaths writes the lines of a case with which words become a path.
func writePaths(b *strings.Builder, all []completable) {
	for _, c := range all {
		if len(c.path) > 0 {
			fmt.Fprintf(b, "      \"%s\") typed=\"%[1]s\" ;;\n", c.typed())
		}
	}
}

// marks set variables of the scripts for bash and zsh.
func (c completable) marks() string {
	marks := ""
	for _, mark := range [][2]string{{"files", yesIf(c.files)}, {"programs", yesIf(c.programs)}} {
		if mark[1] != "" {
			marks += "; " + mark[0] + "=" + mark[1]
		}
	}
	if c.lister.command != "" {
		marks += `; lister="` + c.lister.call() + `"`
	}
	return marks
}

func yesIf(set bool) string {
	if set {
		return "yes"
	}
	return ""
}

func zshCompletion(program string, all []completable) string {
	var b strings.Builder
	b.WriteString("#compdef " + program + "\n_" + program + `() {
  local typed="" word option="" files="" lister="" programs="" chdir="" state="" deployment=""
  local -a subs flags values
  integer i dashes=0
  _listed() {
    local name
    local -a names passed
    for name in ${=2}; do
      [[ -n ${(P)name} ]] && passed+=("-$name=${(P)name}")
    done
    names=("${(@f)$(${words[1]} ${=1} $passed 2>/dev/null)}")
    compadd -a names
  }
  for ((i = 2; i < CURRENT; i++)); do
    word=${words[i]}
    if [[ $word == "--" ]]; then
      dashes=$i
      break
    fi
    case "${word/#--/-}" in
`)
	for _, name := range passable {
		fmt.Fprintf(&b, "      -%[1]s=*) %[1]s=${word#*=} ;;\n      -%[1]s) ((i + 1 < CURRENT)) && %[1]s=${words[i+1]} ;;\n", name)
	}
	b.WriteString(`    esac
    case "$typed $word" in
`)
	writePaths(&b, all)
	b.WriteString("    esac\n  done\n  case \"$typed\" in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "    \"%s\")\n", c.typed())
		commands, flags, values := slices.Clone(c.words), []string{}, []string{}
		for _, sub := range c.commands {
			commands = append(commands, sub.name+":"+sub.summary)
		}
		for _, option := range c.options {
			_, usage := flag.UnquoteUsage(option)
			if text := "-" + option.Name + ":" + usage; isBool(option) {
				flags = append(flags, text)
			} else {
				values = append(values, text)
			}
		}
		for _, list := range []struct {
			name    string
			entries []string
		}{{"subs", commands}, {"flags", flags}, {"values", values}} {
			fmt.Fprintf(&b, "      %s=(\n", list.name)
			for _, entry := range list.entries {
				fmt.Fprintf(&b, "        %s\n", ShellQuote(entry))
			}
			b.WriteString("      )\n")
		}
		fmt.Fprintf(&b, "      %s\n      ;;\n", strings.TrimPrefix(c.marks()+"; :", "; "))
	}
	b.WriteString(`  esac
  if ((dashes)); then
    if [[ -n $programs ]]; then
      shift $dashes words
      ((CURRENT -= dashes))
      _normal
      return
    fi
    subs=() flags=() values=()
  fi
  if [[ ${words[CURRENT]} == -*=* ]]; then
    option=${words[CURRENT]%%=*}
    compset -P '*='
  elif [[ ${words[CURRENT-1]} == -* ]]; then
    option=${words[CURRENT-1]}
  fi
  if [[ -n $option ]]; then
    case "$typed ${option/#--/-}" in
`)
	b.WriteString(valueCases(all, func(v optionValues) string {
		if v.files {
			return "_files; return"
		}
		if v.lister.command != "" {
			return v.lister.call() + "; return"
		}
		return strings.TrimSpace("compadd -- "+strings.Join(v.words, " ")) + "; return"
	}))
	b.WriteString(`    esac
    case ${words[CURRENT]} in
      -*=*) compadd -- false true; return ;;
    esac
  fi
  if [[ -n $lister && ${words[CURRENT]} != -* ]]; then
    eval "$lister"
  fi
  _describe 'command' subs
  _describe -o 'option' flags
  _describe -o 'option' values
  [[ -n $files ]] && _files
}
`)
	// As a file that zsh loads when it is first asked to complete, it has to do that as well.
	fmt.Fprintf(&b, "if [[ ${funcstack[1]} == _%[1]s ]]; then\n  _%[1]s \"$@\"\nelse\n  compdef _%[1]s %[1]s\nfi\n", program)
	return b.String()
}

func fishCompletion(program string, all []completable) string {
	var b strings.Builder
	complete := "complete -c " + program
	var paths []string
	for _, c := range all {
		if len(c.path) > 0 {
			paths = append(paths, ShellQuote(strings.Join(c.path, " ")))
		}
	}
	fmt.Fprintf(&b, fishFunctions, program, strings.Join(paths, " "))
	fmt.Fprintf(&b, "%s -f\n", complete)
	for _, c := range all {
		where := ShellQuote("__" + program + "_at " + strings.Join(c.path, " "))
		for _, word := range c.words {
			fmt.Fprintf(&b, "%s -n %s -a %s\n", complete, where, ShellQuote(word))
		}
		for _, sub := range c.commands {
			fmt.Fprintf(&b, "%s -n %s -a %s -d %s\n", complete, where, sub.name, ShellQuote(sub.summary))
		}
		for _, option := range c.options {
			_, usage := flag.UnquoteUsage(option)
			value := ""
			if !isBool(option) {
				value = " -x"
				if values := c.valuesOf(option); values.files {
					value = " -r -F"
				} else if values.lister.command != "" {
					value += " -a " + values.lister.fishCall(program)
				} else if len(values.words) > 0 {
					value += " -a " + ShellQuote(strings.Join(values.words, " "))
				}
			}
			fmt.Fprintf(&b, "%s -n %s -o %s%s -d %s\n", complete, where, option.Name, value, ShellQuote(usage))
		}
		if c.lister.command != "" {
			fmt.Fprintf(&b, "%s -n %s -a %s\n", complete, where, c.lister.fishCall(program))
		}
		if c.files {
			fmt.Fprintf(&b, "%s -n %s -F\n", complete, where)
		}
		if c.programs {
			fmt.Fprintf(&b, "%s -n %s -F -a '(__%s_program)'\n", complete, ShellQuote("__"+program+"_dashes "+strings.Join(c.path, " ")), program)
		}
	}
	return b.String()
}

// fishCall is how the script for fish lists words.
func (l lister) fishCall(program string) string {
	return ShellQuote("(__" + program + "_listed " + strings.Join(append([]string{ShellQuote(l.command)}, l.passed...), " ") + ")")
}

// fishFunctions find out where in a command line one is. Conditions of fish that come with it look
// for a word anywhere: "plan" in "run plan", and "list" in "state list", are other commands.
//
//nolint:dupword // blocks within blocks of fish end so
const fishFunctions = `# fish completion for %[1]s
function __%[1]s_path
    set -l found
    for word in (commandline -opc)[2..-1]
        test "$word" = --; and break
        set -l longer (string trim -- "$found $word")
        contains -- $longer %[2]s; and set found $longer
    end
    echo "$found"
end
function __%[1]s_at
    set -l path (__%[1]s_path)
    not contains -- -- (commandline -opc); and test "$path" = "$argv"
end
function __%[1]s_dashes
    set -l path (__%[1]s_path)
    contains -- -- (commandline -opc); and test "$path" = "$argv"
end
function __%[1]s_program
    set -l words (commandline -opc)
    set -e words[1..(contains -i -- -- $words)]
    complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end
function __%[1]s_listed
    set -l words (commandline -opc)
    set -l passed
    for i in (seq (count $words))
        for option in $argv[2..-1]
            switch $words[$i]
                case "-$option=*" "--$option=*"
                    set -a passed $words[$i]
                case "-$option" "--$option"
                    set -a passed $words[$i] $words[(math $i + 1)]
            end
        end
    end
    %[1]s (string split ' ' $argv[1]) $passed 2>/dev/null
end
`

// ShellQuote quotes a word for a POSIX shell.
func ShellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
