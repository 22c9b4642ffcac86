// Answers questions about machine configs with the pinned Talos machinery (go.mod): the reference that our library is compared with.
//
//	golden answer        reads one question a line, {"kind": "patches", "input": {...}}, and writes one answer a line, in order
//	golden write DIR     regenerates the recorded answers of all kinds below DIR from their inputs
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

const (
	machinery    = "github.com/siderolabs/talos/pkg/machinery"
	goKubernetes = "github.com/siderolabs/go-kubernetes"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "answer":
		err = answerLines(os.Stdin, os.Stdout)
	case len(os.Args) == 3 && os.Args[1] == "write":
		err = writeFolder(os.Args[2], versionOf(machinery))
	case len(os.Args) == 2 && os.Args[1] == "version":
		fmt.Println(versionOf(machinery))
	default:
		err = fmt.Errorf("usage: golden answer | golden write DIR | golden version")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// versionOf is the version of a module that this program was built with, such as v1.13.9.
func versionOf(path string) string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == path {
			return module.Version
		}
	}
	return "unknown"
}

type question struct {
	Kind  string         `json:"kind"`
	Input map[string]any `json:"input"`
}

func answerLines(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	writer := bufio.NewWriter(out)
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		answered, err := answer(asked.Kind, input{values: asked.Input})
		if err != nil {
			return err
		}
		if err := encoder.Encode(inPlace(answered)); err != nil {
			return err
		}
		// The other side waits for this line before it asks again.
		if err := writer.Flush(); err != nil {
			return err
		}
	}
	return lines.Err()
}

// inPlace turns texts that a folder holds in files into strings.
func inPlace(answered map[string]any) map[string]any {
	plain := map[string]any{}
	for key, value := range answered {
		if file, ok := value.(text); ok {
			value = file.content
		}
		plain[key] = value
	}
	return plain
}
