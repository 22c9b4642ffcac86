// Prints the shape of every machine-config document that a release of the Talos machinery knows, as lines of text: documents, types with
// their fields in order, enumerations, named lists and maps. Of a field it says whether its zero value is left out (?), whether a patch
// replaces it (!) and whether only nil is left out (@). Types that write themselves have no line: they need a codec.
//
//	go run . > ../../packages/talos/src/config/schema/gen/talos-1.13.txt
package main

import (
	"encoding"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"go.yaml.in/yaml/v4"
)

type field struct {
	Name      string `json:"name"`
	Type      any    `json:"type"`
	OmitEmpty bool   `json:"omitEmpty,omitempty"`
	Merge     string `json:"merge,omitempty"`
	Talos     string `json:"talos,omitempty"`
}

type object struct {
	Go     string   `json:"go"`
	Has    []string `json:"has,omitempty"`
	Fields []field  `json:"fields"`
}

var (
	objects       = map[string]*object{}
	enums         = map[string][]string{}
	yamlMarshaler = reflect.TypeFor[yaml.Marshaler]()
	yamlUnmarsh   = reflect.TypeFor[yaml.Unmarshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarsh   = reflect.TypeFor[encoding.TextUnmarshaler]()
	zeroer        = reflect.TypeFor[interface{ IsZero() bool }]()
	merger        = reflect.TypeFor[interface{ Merge(any) error }]()
)

func has(t reflect.Type) []string {
	var out []string
	for _, x := range []struct {
		name string
		t    reflect.Type
	}{{"yamlMarshal", yamlMarshaler}, {"yamlUnmarshal", yamlUnmarsh}, {"textMarshal", textMarshaler}, {"textUnmarshal", textUnmarsh}, {"isZero", zeroer}, {"merge", merger}} {
		switch {
		case t.Implements(x.t):
			out = append(out, x.name)
		case reflect.PointerTo(t).Implements(x.t):
			out = append(out, "*"+x.name)
		}
	}
	return out
}

func name(t reflect.Type) string {
	p := t.PkgPath()
	return p[strings.LastIndex(p, "/")+1:] + "." + t.Name()
}

// describe gives a type as JSON: a string for scalars and references, an object for lists, maps and pointers.
func describe(t reflect.Type) any {
	h := has(t)
	custom := len(h) > 0
	switch t.Kind() {
	case reflect.Pointer:
		return map[string]any{"ptr": describe(t.Elem())}
	case reflect.Slice, reflect.Array:
		if t.PkgPath() == "" {
			return map[string]any{"list": describe(t.Elem())}
		}
		out := map[string]any{"list": describe(t.Elem()), "go": name(t)}
		if custom {
			out["has"] = h
		}
		return out
	case reflect.Map:
		out := map[string]any{"map": describe(t.Elem())}
		if t.PkgPath() != "" {
			out["go"] = name(t)
			if custom {
				out["has"] = h
			}
		}
		return out
	case reflect.Struct:
		n := name(t)
		if _, ok := objects[n]; !ok {
			o := &object{Go: t.PkgPath() + "." + t.Name(), Has: h}
			objects[n] = o
			o.Fields = fields(t)
		}
		return map[string]any{"ref": n}
	case reflect.Interface:
		return "any"
	}
	if t.PkgPath() != "" {
		note(t)
		out := map[string]any{"scalar": t.Kind().String(), "go": name(t)}
		if custom {
			out["has"] = h
		}
		return out
	}
	return t.Kind().String()
}

// note records the texts of an enumeration, zero value first.
func note(t reflect.Type) {
	n := name(t)
	if _, ok := enums[n]; ok || !t.Implements(textMarshaler) || !reflect.PointerTo(t).Implements(textUnmarsh) {
		return
	}
	enums[n] = []string{}
	for i := range 70000 {
		v := reflect.New(t)
		if v.Elem().CanUint() {
			if v.Elem().OverflowUint(uint64(i)) {
				break
			}
			v.Elem().SetUint(uint64(i))
		} else {
			if v.Elem().OverflowInt(int64(i)) {
				break
			}
			v.Elem().SetInt(int64(i))
		}
		text, err := v.Elem().Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			continue
		}
		back := reflect.New(t)
		if back.Interface().(encoding.TextUnmarshaler).UnmarshalText(text) != nil || !reflect.DeepEqual(back.Elem().Interface(), v.Elem().Interface()) {
			continue
		}
		if i > 0 && len(enums[n]) == 0 {
			enums[n] = append(enums[n], "")
		}
		enums[n] = append(enums[n], string(text))
		if len(enums[n]) > 300 {
			enums[n] = nil // a number with a text form, not an enumeration
			return
		}
	}
}

func fields(t reflect.Type) []field {
	out := []field{}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.PkgPath != "" && !f.Anonymous {
			continue
		}
		tag := f.Tag.Get("yaml")
		if tag == "-" {
			continue
		}
		parts := strings.Split(tag, ",")
		inline, omit := false, false
		for _, p := range parts[1:] {
			inline = inline || p == "inline"
			omit = omit || p == "omitempty"
		}
		if inline {
			ft := f.Type
			if ft.Kind() == reflect.Pointer {
				ft = ft.Elem()
			}
			if ft.Kind() == reflect.Map {
				out = append(out, field{Name: "*", Type: describe(ft)})
				continue
			}
			out = append(out, fields(ft)...)
			continue
		}
		if f.PkgPath != "" {
			continue
		}
		n := parts[0]
		if n == "" {
			n = strings.ToLower(f.Name)
		}
		out = append(out, field{Name: n, Type: describe(f.Type), OmitEmpty: omit, Merge: f.Tag.Get("merge"), Talos: f.Tag.Get("talos")})
	}
	return out
}

// spell writes a type as Go does, with names in place of structs.
func spell(t any) string {
	switch x := t.(type) {
	case string:
		return x
	case map[string]any:
		if ref, ok := x["ref"]; ok {
			return ref.(string)
		}
		if ptr, ok := x["ptr"]; ok {
			return "*" + spell(ptr)
		}
		if named, ok := x["go"]; ok {
			n := named.(string)
			if list, ok := x["list"]; ok {
				aliases[n] = "list " + n + ": " + spell(list)
			} else if m, ok := x["map"]; ok {
				aliases[n] = "map " + n + ": " + spell(m)
			}
			return n
		}
		if list, ok := x["list"]; ok {
			return "[]" + spell(list)
		}
		return "map:" + spell(x["map"])
	}
	panic(fmt.Sprint("unexpected ", t))
}

var aliases = map[string]string{}

func main() {
	kindsFile := flag.String("kinds", "kinds.txt", "file with one document kind a line")
	flag.Parse()
	raw, err := os.ReadFile(*kindsFile)
	if err != nil {
		panic(err)
	}
	var lines []string
	for _, kind := range append([]string{""}, strings.Fields(string(raw))...) {
		text := "apiVersion: v1alpha1\nkind: " + kind + "\n"
		if kind == "" {
			text = "version: v1alpha1\nmachine: {}\n"
		}
		p, err := configloader.NewFromBytes([]byte(text))
		if err != nil {
			fmt.Fprintln(os.Stderr, "not in this release:", kind)
			continue
		}
		d := p.Documents()[0]
		line := "doc " + kind
		if kind == "" {
			line = "doc v1alpha1"
		}
		line += " " + spell(describe(reflect.TypeOf(d).Elem()))
		if _, named := d.(interface{ Name() string }); named {
			line += " named"
		}
		lines = append(lines, line)
	}
	for n, o := range objects {
		custom := slices.Contains(o.Has, "textMarshal") || slices.Contains(o.Has, "yamlMarshal") || slices.Contains(o.Has, "*yamlMarshal")
		if custom || strings.HasPrefix(n, "url.") {
			continue // written by a codec of its own
		}
		line := "type " + n + ":"
		for _, f := range o.Fields {
			line += " " + f.Name + ":" + spell(f.Type)
			if f.OmitEmpty {
				line += "?"
			}
			if f.Merge == "replace" {
				line += "!"
			}
			if f.Talos == "omitonlyifnil" {
				line += "@"
			}
		}
		lines = append(lines, line)
	}
	for n, texts := range enums {
		if len(texts) > 0 {
			lines = append(lines, "enum "+n+": "+strings.Join(texts, "|"))
		}
	}
	for _, alias := range aliases {
		lines = append(lines, alias)
	}
	slices.Sort(lines)
	fmt.Println(strings.Join(lines, "\n"))
}
