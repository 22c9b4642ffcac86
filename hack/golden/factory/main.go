// Answers what the Image Factory says of a schematic. Its module asks for newer Talos than the recorded answers come from, so it is a program
// of its own.
//
//	factory < schematic.yaml     writes one JSON object: id and canonical text, or error
//	factory version
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/siderolabs/image-factory/pkg/schematic"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(version())
		return
	}
	source, err := io.ReadAll(os.Stdin)
	if err == nil {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetEscapeHTML(false)
		err = encoder.Encode(answer(source))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answer(source []byte) map[string]any {
	read, err := schematic.Unmarshal(source)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	printed, err := read.Marshal()
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	id, err := read.ID()
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	out := map[string]any{"id": id, "canonical": string(printed)}
	if err := read.Validate(false); err != nil {
		out["validate_error"] = err.Error()
	}
	return out
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/siderolabs/image-factory" {
			return module.Version
		}
	}
	return "unknown"
}
