package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// factory is the program of the folder of that name; GOLDEN_FACTORY is its path.
func factory(stdin []byte, args ...string) ([]byte, error) {
	path := os.Getenv("GOLDEN_FACTORY")
	if path == "" {
		return nil, fmt.Errorf("schematics are answered by the program in hack/golden/factory: give its path in GOLDEN_FACTORY")
	}
	command := exec.Command(path, args...)
	command.Stdin = bytes.NewReader(stdin)
	return command.Output()
}

// answerSchematic gives the id of a schematic and the text that it is the hash of.
func answerSchematic(in input) (map[string]any, error) {
	source, err := in.bytes("schematic")
	if err != nil {
		return nil, err
	}
	answered, err := factory(source)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(answered, &out); err != nil {
		return nil, err
	}
	if canonical, ok := out["canonical"].(string); ok {
		out["canonical"] = text{"canonical.yaml", canonical}
	}
	return out, nil
}

func factoryVersion() (string, error) {
	version, err := factory(nil, "version")
	return strings.TrimSpace(string(version)), err
}
