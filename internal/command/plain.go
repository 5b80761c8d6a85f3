package command

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// kong builds its model of a grammar and interpolates all help texts before it looks at the
// first argument, which takes as long as the dump of a small program. Plain reads the usual
// command lines without kong. Plain accepts only command lines with one meaning; kong
// parses the rest, which are rare, ambiguous or wrong, and writes all messages. Therefore a
// command line has the same meaning with and without Plain.

// Plain parses args into grammar, as kong would, and reports whether it could; if not,
// grammar is unchanged. The grammar's method Validate is called.
func Plain(grammar any, args []string) bool {
	v := reflect.ValueOf(grammar).Elem()
	saved := reflect.New(v.Type()).Elem()
	saved.Set(v)

	p := plainParser{given: map[string]bool{}}
	if p.fields(v) && p.parse(args) && validated(grammar) {
		return true
	}
	v.Set(saved)
	return false
}

func validated(grammar any) bool {
	v, ok := grammar.(interface{ Validate() error })
	return !ok || v.Validate() == nil
}

type plainParser struct {
	flags     []plainFlag
	positions reflect.Value // a []string; invalid if there are no positional arguments
	required  bool          // at least one positional argument
	given     map[string]bool
}

// plainFlag is a flag of a type that Plain supports.
type plainFlag struct {
	name, short string
	values      string // separated by commas; empty for any
	target      reflect.Value
}

// fields collects the flags of a grammar and sets their defaults. It returns false if the
// grammar has features that Plain lacks.
func (p *plainParser) fields(v reflect.Value) bool {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			if !p.fields(v.Field(i)) {
				return false
			}
			continue
		}
		if f.IsExported() && !p.field(f, v.Field(i)) {
			return false
		}
	}
	return true
}

func (p *plainParser) field(f reflect.StructField, target reflect.Value) bool {
	tag, ok := readPlainTag(string(f.Tag))
	if !ok {
		return false
	}
	strings := f.Type == reflect.TypeFor[[]string]()
	if tag.positional {
		if p.positions.IsValid() || !strings {
			return false
		}
		p.positions, p.required = target, !tag.optional
		return true
	}

	// A flag whose type Plain does not know matters only if the flag is given.
	known := strings && tag.separator == "none"
	switch f.Type {
	case reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[bool]():
		known = true
	}
	if !known {
		return tag.byDefault == ""
	}

	flag := plainFlag{name: tag.name, short: tag.short, values: tag.values, target: target}
	if flag.name == "" {
		flag.name = plainName(f.Name)
	}
	p.flags = append(p.flags, flag)
	return tag.byDefault == "" || flag.set(tag.byDefault)
}

// plainName returns the name of a flag without a name in its tag, if the field's name
// is one word; else "", which no argument matches.
func plainName(field string) string {
	rest := field[1:]
	if rest != strings.ToLower(rest) && field != strings.ToUpper(field) {
		return ""
	}
	return strings.ToLower(field)
}

// plainTag has the keys of a field's tag that Plain supports.
type plainTag struct {
	name, short, values, separator, byDefault string
	positional, optional                      bool
}

// readPlainTag returns false if the tag has a key that Plain does not know. It looks
// at each byte once: reflect.StructTag.Lookup would read the help texts for each key.
func readPlainTag(tag string) (t plainTag, ok bool) {
	for tag = strings.TrimLeft(tag, " "); tag != ""; tag = strings.TrimLeft(tag, " ") {
		key, rest, found := strings.Cut(tag, `:"`)
		if !found {
			return t, false
		}
		end := quotedEnd(rest)
		if end < 0 {
			return t, false
		}
		value := rest[:end]
		tag = rest[end+1:]

		switch key {
		case "help", "placeholder", "group", "hidden", "empty": // Plain takes no empty values
			continue
		case "env":
			// Other variables have the program's prefix, which Program.Run looks for.
			if value != "-" {
				return t, false
			}
		case "name":
			t.name = value
		case "short":
			t.short = value
		case "enum":
			t.values = value
		case "default":
			t.byDefault = value
		case "sep":
			t.separator = value
		case "arg":
			t.positional = true
		case "optional":
			t.optional = true
		default:
			return t, false
		}
		if strings.ContainsAny(value, `\$`) {
			return t, false
		}
	}
	return t, true
}

// quotedEnd returns the index of the quotation mark that ends a string, or -1.
func quotedEnd(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return -1
}

// parse reads the arguments.
func (p *plainParser) parse(args []string) bool {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if !strings.HasPrefix(arg, "-") {
			if arg == "" || !p.positions.IsValid() {
				return false
			}
			p.positions.Set(reflect.Append(p.positions, reflect.ValueOf(arg)))
			continue
		}

		name, value, joined := strings.Cut(arg, "=")
		f := p.find(name)
		if f == nil || joined && !strings.HasPrefix(arg, "--") { // -o=x is the value "=x"
			return false
		}
		if f.target.Kind() == reflect.Bool {
			if joined {
				return false
			}
			value = "true"
		} else if !joined {
			// kong decides the meaning of a value that begins like a flag.
			if len(args) == 0 || strings.HasPrefix(args[0], "-") {
				return false
			}
			value = args[0]
			args = args[1:]
		}
		if !p.assign(f, value) {
			return false
		}
	}
	return !p.required || p.positions.Len() > 0
}

// find returns the flag that an argument names, without =value, or nil.
func (p *plainParser) find(arg string) *plainFlag {
	long, isLong := strings.CutPrefix(arg, "--")
	for i := range p.flags {
		f := &p.flags[i]
		if isLong && long != "" && f.name == long || len(arg) == 2 && f.short == arg[1:] {
			return f
		}
	}
	return nil
}

// assign sets a flag that is given, for the first time unless the flag is a list.
func (p *plainParser) assign(f *plainFlag, value string) bool {
	if f.target.Kind() != reflect.Slice && p.given[f.name] {
		return false
	}
	p.given[f.name] = true
	return f.set(value)
}

// set sets the value of a flag, or returns false if the value is not plain.
func (f *plainFlag) set(value string) bool {
	if value == "" || f.values != "" && !slices.Contains(strings.Split(f.values, ","), value) {
		return false
	}
	switch f.target.Kind() {
	case reflect.String:
		f.target.SetString(value)
	case reflect.Slice:
		f.target.Set(reflect.Append(f.target, reflect.ValueOf(value)))
	case reflect.Bool:
		f.target.SetBool(value == "true")
	case reflect.Int:
		// Other forms of numbers have prefixes and separators.
		n, err := strconv.Atoi(value)
		if err != nil || strconv.Itoa(n) != value {
			return false
		}
		f.target.SetInt(int64(n))
	}
	return true
}
