// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schema

const all = Values | Components | Each

var (
	moduleSource = Argument{
		Name: "source", Required: true, Type: "literal string", Scope: Source,
		Doc: "Where the module is: a local path that begins with ./ or ../, an address in a registry, or one of a git repository or an archive.",
	}
	stackSource = Argument{
		Name: "source", Required: true, Type: "literal string", Scope: Source,
		Doc: "Where the embedded stack is: " +
			"a local path that begins with ./ or ../, an address in a registry, or one of a git repository or an archive.",
	}
	version = Argument{
		Name: "version", Type: "literal string",
		Doc: "Which versions are acceptable, such as \"~> 5.7\". Sources in registries need it; others cannot have it.",
	}
	forEach = Argument{
		Name: "for_each", Type: "map, object or set of strings", Scope: Values | Components,
		Doc: "Makes an instance for each element. In the other arguments, each.key and each.value are its key and its value.",
	}
	dependsOn = Argument{
		Name: "depends_on", Type: "list of references", Scope: Path,
		Doc: "Components and embedded stacks of this stack that are applied before, though nothing here refers to them.",
	}
	description = Argument{Name: "description", Type: "literal string", Doc: "The purpose, for people."}
)

func inputs(doc string) Argument {
	return Argument{Name: "inputs", Type: "object", Scope: all, Map: true, Doc: doc}
}

func slots(doc string) Argument {
	return Argument{Name: "providers", Type: "object of provider configurations", Scope: all | Providers, Map: true, Doc: doc}
}

// Stack are the blocks at the top level of component files.
var Stack = []Block{
	{
		Type: "component", Labels: []string{"name"},
		Doc: "Runs a Terraform module as a part of the stack, with inputs, provider configurations and a state of its own. " +
			"Others refer to the outputs of the module as component.NAME.",
		Arguments: []Argument{
			moduleSource, version, forEach,
			inputs("Values for the variables of the module. A variable that is missing here, or null, has its default."),
			slots("The provider configuration for each provider that the module requires, by the module's name for it: aws = provider.aws.main."),
			dependsOn,
		},
	},
	{
		Type: "stack", Labels: []string{"name"},
		Doc: "Embeds another stack configuration. Only inputs go into it, and only its outputs come out, as stack.NAME.",
		Arguments: []Argument{
			stackSource, version, forEach,
			inputs("Values for the variables of the embedded stack. A variable that is missing here, or null, has its default."),
			dependsOn,
		},
	},
	{
		Type: "variable", Labels: []string{"name"},
		Doc: "An input of this stack, as var.NAME. The root stack gets its value from outside, an embedded stack from the inputs of its block.",
		Arguments: []Argument{
			{Name: "type", Required: true, Type: "type", Scope: Types, Doc: "The type to which values are converted. It is exact: there is no any."},
			{Name: "default", Type: "literal", Doc: "The value if none is given, or if it is null. A variable without one is required."},
			description,
			{Name: "sensitive", Type: "literal bool", Scope: Bool, Doc: "Whether the value, and every value computed from it, is hidden in output."},
			{
				Name:  "ephemeral",
				Type:  "literal bool",
				Scope: Bool,
				Doc:   "Whether the value is kept out of plans and states. It is given again for an apply.",
			},
		},
		Blocks: []Block{{
			Type: "validation",
			Doc:  "A rule for the values of the variable, checked when a stack is planned and applied. There can be any number.",
			Arguments: []Argument{
				{
					Name:     "condition",
					Required: true,
					Type:     "bool",
					Scope:    Own,
					Doc:      "True for values that are accepted. It refers to the variable, and to nothing else.",
				},
				{
					Name:     "error_message",
					Required: true,
					Type:     "string",
					Scope:    Own,
					Doc:      "The error that is reported for other values. It is evaluated in any case.",
				},
			},
		}},
	},
	{
		Type: "output", Labels: []string{"name"},
		Doc: "A result of this stack. Of an embedded stack, it is stack.NAME.OUTPUT in the stack around it.",
		Arguments: []Argument{
			{
				Name:     "type",
				Required: true,
				Type:     "type",
				Scope:    Types,
				Doc:      "The type to which the value is converted. It is exact: there is no any.",
			},
			{Name: "value", Required: true, Type: "any", Scope: Values | Components | Providers, Doc: "The value."},
			description,
			{
				Name:  "sensitive",
				Type:  "literal bool",
				Scope: Bool,
				Doc:   "Whether the value is hidden in output, and sensitive for who refers to it.",
			},
			{Name: "ephemeral", Type: "literal bool", Scope: Bool, Doc: "Whether the value is ephemeral. Only outputs of embedded stacks can be."},
		},
	},
	{
		Type: "locals",
		Doc:  "Names for values that are used in several places, as local.NAME. Each argument is one of them.",
	},
	{
		Type:   "provider",
		Labels: []string{"local name", "name"},
		Doc:    "Configures a provider. Components are given the configuration as provider.LOCALNAME.NAME.",
		Arguments: []Argument{
			{
				Name:  "for_each",
				Type:  "map, object or set of strings",
				Scope: Values | Components,
				Doc:   "Makes a map of configurations, one for each element.",
			},
		},
		Blocks: []Block{
			{
				Type: "config",
				Once: true,
				Doc:  "The arguments of the provider, by its own schema. They may refer to everything but provider configurations.",
			},
		},
	},
	{
		Type: "required_providers", Once: true,
		Doc: "The providers of this stack. " +
			"Each argument gives one a local name: aws = { source = \"hashicorp/aws\", version = \"~> 5.7\" }. " +
			"Embedded stacks have a block of their own.",
	},
	{
		Type: "removed",
		Doc:  "Destroys, or forgets, the objects of a component or embedded stack whose block is gone, or of single instances of one.",
		Arguments: []Argument{
			{
				Name:     "from",
				Required: true,
				Type:     "path",
				Scope:    Path | Each,
				Doc:      "The address that is removed, such as component.x, component.x[\"key\"] or stack.s.component.x.",
			},
			{
				Name:     "source",
				Required: true,
				Type:     "literal string",
				Scope:    Source,
				Doc:      "The source that the block of the component or embedded stack had.",
			},
			version,
			{
				Name:  "for_each",
				Type:  "map, object or set of strings",
				Scope: Values | Components,
				Doc:   "Removes an instance for each element. An index in from uses each.",
			},
			inputs("The variables of a removed stack. A removed component has the inputs of its last apply instead."),
			slots("The provider configurations that destroying a component needs, by the names in its module."),
		},
		Blocks: []Block{{
			Type: "lifecycle", Once: true, Doc: "How it is removed.",
			Arguments: []Argument{
				{
					Name:  "destroy",
					Type:  "literal bool",
					Scope: Bool,
					Doc:   "False to forget the resources: they continue to exist, and the state does not have them any more.",
				},
			},
		}},
	},
	{
		Type: "moved",
		Doc: "Says that a component or embedded stack has another name or place than when it was applied: " +
			"the objects at from get the address to before anything is planned.",
		Arguments: []Argument{
			{Name: "from", Required: true, Type: "path", Scope: Path, Doc: "The former address, such as component.x or stack.s[\"key\"]."},
			{Name: "to", Required: true, Type: "path", Scope: Path, Doc: "The address in this configuration."},
		},
	},
}

// Language is the argument at the top level of component files.
var Language = Argument{
	Name:  "language",
	Type:  "keyword",
	Words: []string{"TFStack2023"},
	Doc:   "The edition of the language. There is one, which is also that of files without this argument.",
}

// Requirement are the arguments of an entry of required_providers.
var Requirement = Block{
	Type: "required_providers",
	Arguments: []Argument{
		{Name: "source", Required: true, Type: "literal string", Doc: "The address of the provider: [HOST/]NAMESPACE/TYPE."},
		{
			Name:     "version",
			Required: true,
			Type:     "literal string",
			Doc:      "Which versions are acceptable, such as \"~> 5.7\". The built-in provider has none.",
		},
	},
}

// Keyword is a word at the beginning of references, or a type.
type Keyword struct {
	Name, Doc string
	Scope     Scope
}

// Roots are the words with which references begin.
var Roots = []Keyword{
	{"var", "The input variables of this stack.", Values | Own},
	{"local", "The local values of this stack.", Values},
	{"component", "The components of this stack: the outputs of their modules.", Components | Path},
	{"stack", "The embedded stacks of this stack: their outputs.", Components | Path},
	{"provider", "The provider configurations of this stack.", Providers},
	{"each", "The key and the value of this instance of a block with for_each.", Each},
	{"terraform", "Facts about the operation.", Values},
}

// Attributes are the names that can follow words that stand for no block.
var Attributes = map[string][]Keyword{
	"each":      {{"key", "The key of this instance.", Each}, {"value", "The element of for_each that this instance is made of.", Each}},
	"terraform": {{"applying", "Whether the stack is being applied. It is ephemeral.", Values}},
}

// TypeWords are the types of the language. A dollar sign stands for the text in parentheses.
var TypeWords = []Keyword{
	{"string", "A text.", Types},
	{"number", "A number, whole or not.", Types},
	{"bool", "True or false.", Types},
	{"list($)", "Elements of one type, in order.", Types},
	{"set($)", "Elements of one type, each once, without order.", Types},
	{"map($)", "Elements of one type, by keys.", Types},
	{"object({ $ })", "Attributes, each of its own type.", Types},
	{"tuple([$])", "Elements, each of its own type, in order.", Types},
	{"optional($)", "In an object: an attribute that may be missing. A second argument is its default.", Types},
	{"providerconfig($)", "References to configurations of a provider, by its local name.", Types},
}
