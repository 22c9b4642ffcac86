package main

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
)

// text is an answer that a folder keeps in a file of its own.
type text struct {
	name    string
	content string
}

// input is what a case asks about. Texts are given in place or as {"file": path} below folder.
type input struct {
	values map[string]any
	folder string
	// recorded is what was answered before: the rows of a table name what is asked, samples of random keys stay as they are.
	recorded map[string]any
}

type answerer func(input) (map[string]any, error)

var answerers = map[string]answerer{
	"encoding":         answerEncoding,
	"genconfig":        answerGenconfig,
	"images":           answerImages,
	"kubernetes":       answerKubernetes,
	"patches":          answerPatches,
	"schematic":        answerSchematic,
	"secrets":          answerSecrets,
	"pki":              answerPki,
	"talosconfig":      answerTalosconfig,
	"validate":         answerValidate,
	"version-contract": answerContract,
}

// answer asks the machinery. An error means that the question makes no sense; refusals of the machinery are answers. A panic is one too.
func answer(kind string, asked input) (answered map[string]any, err error) {
	ask, ok := answerers[kind]
	if !ok {
		return nil, fmt.Errorf("nothing answers the kind %q", kind)
	}
	defer func() {
		if fault := recover(); fault != nil {
			answered, err = map[string]any{"panic": fmt.Sprint(fault)}, nil
		}
	}()
	return ask(asked)
}

func (in input) string(key string) string {
	value, _ := in.values[key].(string)
	return value
}

func (in input) strings(key string) []string {
	return stringsOf(in.values[key])
}

func stringsOf(value any) []string {
	list, _ := value.([]any)
	var out []string
	for _, item := range list {
		out = append(out, fmt.Sprint(item))
	}
	return out
}

func (in input) bytes(key string) ([]byte, error) {
	return in.bytesOf(in.values[key])
}

func (in input) bytesOf(value any) ([]byte, error) {
	switch value := value.(type) {
	case string:
		return []byte(value), nil
	case map[string]any:
		if name, ok := value["file"].(string); ok {
			return os.ReadFile(filepath.Join(in.folder, name))
		}
	}
	return nil, fmt.Errorf("neither text nor a file: %v", value)
}

// orNull is the text of an error, nil for none.
func orNull(err error) any {
	if err == nil {
		return nil
	}
	return err.Error()
}

// wrongQuestion is a fault of who asks, not an answer of the machinery.
type wrongQuestion struct{ cause error }

func (e *wrongQuestion) Error() string { return e.cause.Error() }

func wrong(err error) error { return &wrongQuestion{err} }

func asWrongQuestion(err error, target **wrongQuestion) bool { return errors.As(err, target) }

func keysOf[V any](values map[string]V) iter.Seq[string] { return maps.Keys(values) }
