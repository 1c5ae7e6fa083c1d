// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
)

func completionCommand() *command {
	return &command{
		name:    "completion",
		args:    "bash|zsh|fish",
		summary: "Writes a script with which a shell completes commands and options.",
		long: `
For bash, add to ~/.bashrc:       source <(cairn completion bash)
For zsh, add to ~/.zshrc:         source <(cairn completion zsh)
For fish, run once:               cairn completion fish > ~/.config/fish/completions/cairn.fish`,
		example: "cairn completion bash",
		minArgs: 1, maxArgs: 1,
		run: func(_ context.Context, s *session, args []string) (int, error) {
			write, ok := completionScripts[args[0]]
			if !ok {
				return 0, fail("Unknown shell", "There is no completion for %q.%s Give bash, zsh or fish.",
					args[0], didYouMean(args[0], slices.Collect(maps.Keys(completionScripts)), ""))
			}
			s.stdout("%s", write(s.completions()))
			return exitOK, nil
		},
	}
}

var completionScripts = map[string]func([]completable) string{
	"bash": bashCompletion,
	"zsh":  zshCompletion,
	"fish": fishCompletion,
}

// completable is a command line as far as its commands go, and what may follow.
type completable struct {
	path     []string // names of commands, without that of the program
	commands []*command
	options  []*flag.Flag
	files    bool // positional arguments are files
}

func (s *session) completions() []completable {
	var all []completable
	var add func(c *command, path []string)
	add = func(c *command, path []string) {
		flags := s.newFlags(c)
		if c.flags != nil {
			c.flags(flags)
		}
		entry := completable{path: path, commands: c.commands, files: strings.Contains(c.args, "FILE") || strings.Contains(c.args, "PLAN")}
		flags.VisitAll(func(option *flag.Flag) { entry.options = append(entry.options, option) })
		all = append(all, entry)
		for _, sub := range c.commands {
			add(sub, append(slices.Clone(path), sub.name))
		}
	}
	add(rootCommand(), nil)
	return all
}

// words are what may follow, options with the sign that asks for their value.
func (c completable) words() []string {
	var words []string
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

// optionValues are what may follow the sign of equality after an option.
type optionValues struct {
	words []string // the values, where they are known
	files bool
}

// valuesOf tells the values of an option from the placeholder in its help text: words in lower case stand for themselves.
func valuesOf(option *flag.Flag) optionValues {
	placeholder, _ := flag.UnquoteUsage(option)
	switch placeholder {
	case "FILE", "DIR", "BINARY", "PATH|URL":
		return optionValues{files: true}
	}
	if _, isBool := option.Value.(interface{ IsBoolFlag() bool }); isBool {
		return optionValues{words: []string{"false", "true"}}
	}
	if strings.Trim(placeholder, "abcdefghijklmnopqrstuvwxyz|") == "" && strings.Contains(placeholder, "|") {
		return optionValues{words: strings.Split(placeholder, "|")}
	}
	return optionValues{}
}

// optionsByValues returns the names of all options that have known values, by what these are, and of those that take files.
func optionsByValues(all []completable) (words map[string][]string, files []string) {
	words = map[string][]string{}
	for _, c := range all {
		for _, option := range c.options {
			name := "-" + option.Name
			values := valuesOf(option)
			if values.files && !slices.Contains(files, name) {
				files = append(files, name)
			}
			if list := strings.Join(values.words, " "); list != "" && !slices.Contains(words[list], name) {
				words[list] = append(words[list], name)
			}
		}
	}
	slices.Sort(files)
	for list := range words {
		slices.Sort(words[list])
	}
	return words, files
}

func bashCompletion(all []completable) string {
	var b strings.Builder
	b.WriteString(`# bash completion for cairn
_cairn() {
  local current=${COMP_WORDS[COMP_CWORD]} typed="" word words files=""
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case "$typed $word" in
`)
	for _, c := range all {
		if len(c.path) > 0 {
			fmt.Fprintf(&b, "      \" %s\") typed=\" %[1]s\" ;;\n", strings.Join(c.path, " "))
		}
	}
	b.WriteString(`    esac
  done
  case "$typed" in
`)
	for _, c := range all {
		files := ""
		if c.files {
			files = "; files=yes"
		}
		path := strings.Join(c.path, " ")
		if path != "" {
			path = " " + path
		}
		fmt.Fprintf(&b, "    \"%s\") words=\"%s\"%s ;;\n", path, strings.Join(c.words(), " "), files)
	}
	b.WriteString(`  esac
  local option=""
  if [[ $current == "=" ]]; then
    option=${COMP_WORDS[COMP_CWORD-1]} current=""
  elif [[ ${COMP_WORDS[COMP_CWORD-1]} == "=" ]]; then
    option=${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [[ -n $option ]]; then
    case "${option/#--/-}" in
`)
	words, files := optionsByValues(all)
	for _, list := range slices.Sorted(maps.Keys(words)) {
		fmt.Fprintf(&b, "      %s) COMPREPLY=($(compgen -W %s -- \"$current\")) ;;\n", strings.Join(words[list], "|"), shellQuote(list))
	}
	fmt.Fprintf(&b, "      %s) COMPREPLY=($(compgen -f -- \"$current\")) ;;\n", strings.Join(files, "|"))
	b.WriteString(`    esac
    return
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ -n $files && $current != -* ]]; then
    COMPREPLY+=($(compgen -f -- "$current"))
  fi
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace
  fi
}
complete -o filenames -F _cairn cairn
`)
	return b.String()
}

func zshCompletion(all []completable) string {
	var b strings.Builder
	b.WriteString(`#compdef cairn
_cairn() {
  local typed="" word files=""
  local -a entries
  integer i
  for ((i = 2; i < CURRENT; i++)); do
    word=${words[i]}
    case "$typed $word" in
`)
	for _, c := range all {
		if len(c.path) > 0 {
			fmt.Fprintf(&b, "      \" %s\") typed=\" %[1]s\" ;;\n", strings.Join(c.path, " "))
		}
	}
	b.WriteString("    esac\n  done\n  case \"$typed\" in\n")
	for _, c := range all {
		path := strings.Join(c.path, " ")
		if path != "" {
			path = " " + path
		}
		fmt.Fprintf(&b, "    \"%s\")\n      entries=(\n", path)
		for _, sub := range c.commands {
			fmt.Fprintf(&b, "        %s\n", shellQuote(sub.name+":"+sub.summary))
		}
		for _, option := range c.options {
			_, usage := flag.UnquoteUsage(option)
			fmt.Fprintf(&b, "        %s\n", shellQuote("-"+option.Name+":"+usage))
		}
		b.WriteString("      )\n")
		if c.files {
			b.WriteString("      files=yes\n")
		}
		b.WriteString("      ;;\n")
	}
	b.WriteString(`  esac
  if [[ ${words[CURRENT]} == -*=* ]]; then
    local option=${words[CURRENT]%%=*}
    compset -P '*='
    case "${option/#--/-}" in
`)
	words, files := optionsByValues(all)
	for _, list := range slices.Sorted(maps.Keys(words)) {
		fmt.Fprintf(&b, "      %s) compadd -- %s ;;\n", strings.Join(words[list], "|"), list)
	}
	fmt.Fprintf(&b, "      %s) _files ;;\n", strings.Join(files, "|"))
	b.WriteString(`    esac
    return
  fi
  _describe -o 'cairn' entries
  [[ -n $files ]] && _files
}
compdef _cairn cairn
`)
	return b.String()
}

func fishCompletion(all []completable) string {
	var b strings.Builder
	b.WriteString("# fish completion for cairn\ncomplete -c cairn -f\n")
	for _, c := range all {
		condition := "__fish_use_subcommand"
		if len(c.path) > 0 {
			condition = "__fish_seen_subcommand_from " + strings.Join(c.path, "; and __fish_seen_subcommand_from ")
		}
		for _, sub := range c.commands {
			where := condition
			if len(c.path) > 0 {
				names := make([]string, len(c.commands))
				for i, other := range c.commands {
					names[i] = other.name
				}
				where += "; and not __fish_seen_subcommand_from " + strings.Join(names, " ")
			}
			fmt.Fprintf(&b, "complete -c cairn -n %s -a %s -d %s\n", shellQuote(where), sub.name, shellQuote(sub.summary))
		}
		for _, option := range c.options {
			_, usage := flag.UnquoteUsage(option)
			value := ""
			if !isBool(option) {
				value = " -x"
				if values := valuesOf(option); values.files {
					value = " -r -F"
				} else if len(values.words) > 0 {
					value += " -a " + shellQuote(strings.Join(values.words, " "))
				}
			}
			fmt.Fprintf(&b, "complete -c cairn -n %s -o %s%s -d %s\n", shellQuote(condition), option.Name, value, shellQuote(usage))
		}
		if c.files {
			fmt.Fprintf(&b, "complete -c cairn -n %s -F\n", shellQuote(condition))
		}
	}
	return b.String()
}

func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
