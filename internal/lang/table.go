// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"maps"
	"sync"
	"time"

	"github.com/hashicorp/go-cty-funcs/crypto"
	"github.com/hashicorp/go-cty-funcs/encoding"
	"github.com/hashicorp/go-cty-funcs/filesystem"
	"github.com/hashicorp/go-cty-funcs/uuid"
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	yaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/cairnstacks/cairn/internal/bounds"
)

// corePrefix stands before the name of a built-in function in its longer form.
const corePrefix = "core::"

// Options are the conditions that the functions of one scope depend on.
type Options struct {
	// BaseDir is the directory that relative file paths start from. Empty means the current
	// directory of the process.
	BaseDir string

	// Within are directories, absolute and without links, that files are read in. Of those
	// elsewhere nothing is known: the results of reading them are unknown. Nil stands for all
	// directories.
	Within []string

	// Allowance limits all evaluations together; nil if only each one is bounded.
	Allowance *bounds.Allowance

	// PlanTimestamp is the result of plantimestamp. While it is zero the result is unknown.
	PlanTimestamp time.Time

	// PureOnly makes the impure functions return unknown values. Set it in every phase but apply.
	PureOnly bool

	// Tofu adds the functions that OpenTofu has and terraform has not.
	Tofu bool
}

// Functions returns the table of functions for one scope, with the "core::" names.
//
// Functions of providers are not in it: see [ProviderFunctions].
//
// Making a table costs more than a small evaluation does: make it once and share it. The caller
// must not change it. It is safe for concurrent use.
func Functions(opts Options) map[string]function.Function {
	table := maps.Clone(fixedFunctions())
	if opts.Tofu {
		maps.Copy(table, tofuFunctions())
	}
	own := keepAllMarks(fileFunctions(opts))
	maps.Copy(own, timeFunctions(opts))
	for name, impure := range impureFunctions {
		if opts.PureOnly {
			impure = function.Unpredictable(impure)
		}
		if name != "timestamp" { // of its result, terraform does not say that it is not null
			impure = notNull(impure)
		}
		own[name] = impure
	}
	maps.Copy(own, renderers(opts, templateFunctions{table: inTemplates(table), allowance: opts.Allowance}))
	addCoreNames(own)
	maps.Copy(table, own)
	return table
}

// templateNames are the functions that render templates.
var templateNames = []string{"templatefile", "templatestring"}

// renderers returns the functions that render templates.
func renderers(opts Options, functions templateFunctions) map[string]function.Function {
	return map[string]function.Function{
		"templatefile":   keepMarks(templateFileFunction(opts, functions)),
		"templatestring": templateStringFunction(functions),
	}
}

// inTemplates makes, when it is first needed, the table for templates from that of their scope.
// They see everything but the template functions themselves, which fail when called.
func inTemplates(table map[string]function.Function) func() map[string]function.Function {
	return sync.OnceValue(func() map[string]function.Function {
		table := maps.Clone(table)
		for _, name := range templateNames {
			table[name] = recursiveTemplateFunction(name)
			table[corePrefix+name] = table[name]
		}
		return table
	})
}

func addCoreNames(table map[string]function.Function) {
	for name, f := range maps.Clone(table) {
		table[corePrefix+name] = f
	}
}

// impureFunctions give another result at each call.
var impureFunctions = map[string]function.Function{
	"bcrypt":    crypto.BcryptFunc,
	"timestamp": timestampFunction,
	"uuid":      uuid.V4Func,
}

// fixedFunctions returns the functions that depend on nothing but their arguments, with the
// "core::" names. They are the same in all tables.
var fixedFunctions = sync.OnceValue(func() map[string]function.Function {
	return finished(map[string]function.Function{
		"abs":              stdlib.AbsoluteFunc,
		"alltrue":          allTrueFunction,
		"anytrue":          anyTrueFunction,
		"base64decode":     base64DecodeFunction,
		"base64encode":     notNull(encoding.Base64EncodeFunc),
		"base64gzip":       base64GzipFunction,
		"base64sha256":     base64Sha256Function,
		"base64sha512":     base64Sha512Function,
		"basename":         notNull(filesystem.BasenameFunc),
		"can":              tryfunc.CanFunc,
		"ceil":             stdlib.CeilFunc,
		"chomp":            stdlib.ChompFunc,
		"chunklist":        stdlib.ChunklistFunc,
		"cidrhost":         cidrHostFunction,
		"cidrnetmask":      cidrNetmaskFunction,
		"cidrsubnet":       cidrSubnetFunction,
		"cidrsubnets":      hideDetails(cidrSubnetsFunction),
		"coalesce":         coalesceFunction,
		"coalescelist":     stdlib.CoalesceListFunc,
		"compact":          stdlib.CompactFunc,
		"concat":           settledLists(keepMarks(stdlib.ConcatFunc)),
		"contains":         findsNull(containsFunction),
		"convert":          convertFunction,
		"csvdecode":        stdlib.CSVDecodeFunc,
		"dirname":          notNull(filesystem.DirnameFunc),
		"distinct":         distinctFunction,
		"element":          stdlib.ElementFunc,
		"endswith":         endsWithFunction,
		"ephemeralasnull":  ephemeralAsNullFunction,
		"flatten":          stdlib.FlattenFunc,
		"floor":            stdlib.FloorFunc,
		"format":           stdlib.FormatFunc,
		"formatdate":       hideDetails(stdlib.FormatDateFunc),
		"formatlist":       stdlib.FormatListFunc,
		"indent":           stdlib.IndentFunc,
		"index":            indexFunction,
		"issensitive":      isSensitiveFunction,
		"join":             stdlib.JoinFunc,
		"jsondecode":       boundResult(stdlib.JSONDecodeFunc),
		"jsonencode":       stdlib.JSONEncodeFunc,
		"keys":             stdlib.KeysFunc,
		"length":           lengthFunction,
		"log":              stdlib.LogFunc,
		"lookup":           lookupFunction,
		"lower":            stdlib.LowerFunc,
		"matchkeys":        matchKeysFunction,
		"max":              stdlib.MaxFunc,
		"md5":              notNull(crypto.Md5Func),
		"merge":            onlyMaps(keepMarks(stdlib.MergeFunc)),
		"min":              stdlib.MinFunc,
		"nonsensitive":     nonsensitiveFunction,
		"one":              oneFunction,
		"parseint":         hideDetails(stdlib.ParseIntFunc),
		"pathexpand":       pathExpandFunction,
		"pow":              stdlib.PowFunc,
		"range":            stdlib.RangeFunc,
		"regex":            hideDetails(stdlib.RegexFunc),
		"regexall":         hideDetails(stdlib.RegexAllFunc),
		"replace":          replaceFunction,
		"reverse":          stdlib.ReverseListFunc,
		"rsadecrypt":       rsaDecryptFunction,
		"sensitive":        sensitiveFunction,
		"setintersection":  setOperation(stdlib.SetIntersectionFunc, intersect),
		"setproduct":       settled(keepMarks(stdlib.SetProductFunc), false),
		"setsubtract":      setOperation(stdlib.SetSubtractFunc, subtract),
		"setunion":         setOperation(stdlib.SetUnionFunc, unite),
		"sha1":             notNull(crypto.Sha1Func),
		"sha256":           notNull(crypto.Sha256Func),
		"sha512":           notNull(crypto.Sha512Func),
		"signum":           stdlib.SignumFunc,
		"slice":            stdlib.SliceFunc,
		"sort":             stdlib.SortFunc,
		"split":            stdlib.SplitFunc,
		"startswith":       startsWithFunction,
		"strcontains":      strContainsFunction,
		"strrev":           stdlib.ReverseFunc,
		"substr":           stdlib.SubstrFunc,
		"sum":              sumFunction,
		"textdecodebase64": textDecodeBase64Function,
		"textencodebase64": textEncodeBase64Function,
		"timeadd":          hideDetails(stdlib.TimeAddFunc),
		"timecmp":          timeCompareFunction,
		"title":            stdlib.TitleFunc,
		"tobool":           conversionFunction(cty.Bool),
		"tolist":           conversionFunction(cty.List(cty.DynamicPseudoType)),
		"tomap":            conversionFunction(cty.Map(cty.DynamicPseudoType)),
		"tonumber":         conversionFunction(cty.Number),
		"toset":            conversionFunction(cty.Set(cty.DynamicPseudoType)),
		"tostring":         conversionFunction(cty.String),
		"transpose":        transposeFunction,
		"trim":             stdlib.TrimFunc,
		"trimprefix":       stdlib.TrimPrefixFunc,
		"trimspace":        stdlib.TrimSpaceFunc,
		"trimsuffix":       stdlib.TrimSuffixFunc,
		"try":              tryfunc.TryFunc,
		"upper":            stdlib.UpperFunc,
		"urlencode":        notNull(encoding.URLEncodeFunc),
		"uuidv5":           notNull(hideDetails(uuid.V5Func)),
		"values":           stdlib.ValuesFunc,
		"yamldecode":       boundResult(yaml.YAMLDecodeFunc),
		"yamlencode":       yaml.YAMLEncodeFunc,
		"zipmap":           stdlib.ZipmapFunc,
	})
})

// finished returns functions that depend on nothing but their arguments as tables have them, with
// the "core::" names.
func finished(table map[string]function.Function) map[string]function.Function {
	table = requireAll(keepAllMarks(table))
	for name, f := range table {
		table[name] = linearly(f)
	}
	addCoreNames(table)
	return table
}

func keepAllMarks(table map[string]function.Function) map[string]function.Function {
	for name, f := range table {
		if losesMarks(f) {
			table[name] = keepMarks(f)
		}
	}
	return table
}

func refineNotNull(b *cty.RefinementBuilder) *cty.RefinementBuilder { return b.NotNull() }

func timeFunctions(opts Options) map[string]function.Function {
	return map[string]function.Function{
		"plantimestamp": planTimestampFunction(opts.PlanTimestamp),
	}
}
