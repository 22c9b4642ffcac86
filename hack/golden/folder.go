package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// writeFolder regenerates the answers of every kind below dir that this library gives.
//
// A case has up to two answers: `expected` of the library that made it, `expected_newer` of the first one whose documents are newer where that
// says something else, or its name in `also_valid_for` where it does not. A library writes the answers of its own generation only.
func writeFolder(dir, version string) error {
	kinds, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		if !kind.IsDir() {
			continue
		}
		index := filepath.Join(dir, kind.Name(), "index.json")
		data, err := os.ReadFile(index)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return err
		}
		if answerers[kind.Name()] == nil {
			fmt.Printf("%-17s left as it is: nothing here answers it\n", kind.Name())
			continue
		}
		var listed map[string]any
		if err := json.Unmarshal(data, &listed); err != nil {
			return fmt.Errorf("%s: %w", index, err)
		}
		written, left := 0, 0
		cases, _ := listed["cases"].([]any)
		for _, entry := range cases {
			isOurs, err := writeCase(kind.Name(), filepath.Join(dir, kind.Name()), entry.(map[string]any), version)
			if err != nil {
				return fmt.Errorf("%s: %w", kind.Name(), err)
			}
			if isOurs {
				written++
			} else {
				left++
			}
		}
		listed["count"] = len(cases)
		listed["kind"] = kind.Name()
		if err := writeJSON(index, listed); err != nil {
			return err
		}
		fmt.Printf("%-17s %4d written by %s, %d of another library left\n", kind.Name(), written, version, left)
	}
	return nil
}

// writeCase says whether this library answers the case.
func writeCase(kind, folder string, golden map[string]any, version string) (bool, error) {
	source, _ := golden["source"].(string)
	if source == "" {
		source = version
	}
	isMaker := makes(source, version)
	if !isMaker && !(isNewer(version) && strings.HasPrefix(source, "v")) {
		return false, nil
	}
	id, _ := golden["id"].(string)
	values, _ := golden["input"].(map[string]any)
	recorded, _ := golden["expected"].(map[string]any)
	answered, err := answer(kind, input{values: values, folder: folder, recorded: recorded})
	if err != nil {
		return false, fmt.Errorf("%s: %w", id, err)
	}
	if !isMaker {
		return true, writeNewer(golden, answered, folder, id, version)
	}
	// A commit keeps its name until a release says something else.
	isSame, err := says(recorded, answered, folder)
	if err != nil {
		return false, err
	}
	if isSame && !strings.HasPrefix(source, "v") {
		golden["source"] = source
	} else if golden["source"], err = sourceOf(source, version); err != nil {
		return false, err
	}
	golden["expected"], err = filed(answered, folder, id, "")
	return true, err
}

// sourceOf names the library that gives the answer now.
func sourceOf(source, version string) (string, error) {
	switch {
	case strings.HasPrefix(source, "go-kubernetes-"):
		return "go-kubernetes-" + versionOf(goKubernetes), nil
	case strings.HasPrefix(source, "image-factory-"):
		version, err := factoryVersion()
		return "image-factory-" + version, err
	}
	return version, nil
}

// makes tells whether the answer that a source gave is this library's to give again. Lists of other modules are answered by whoever has them.
func makes(source, version string) bool {
	if strings.HasPrefix(source, "go-kubernetes-") || strings.HasPrefix(source, "image-factory-") {
		return true
	}
	return isNewer(source) == isNewer(version)
}

func writeNewer(golden, answered map[string]any, folder, id, version string) error {
	recorded, _ := golden["expected"].(map[string]any)
	isSame, err := says(recorded, answered, folder)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(stringsOf(golden["also_valid_for"]), isNewer)
	delete(golden, "expected_newer")
	delete(golden, "newer_source")
	delete(golden, "also_valid_for")
	if isSame {
		golden["also_valid_for"] = append(others, version)
		return nil
	}
	if len(others) > 0 {
		golden["also_valid_for"] = others
	}
	golden["newer_source"] = version
	golden["expected_newer"], err = filed(answered, folder, id, "newer-")
	return err
}

// says tells whether a recorded answer is this one.
func says(recorded, answered map[string]any, folder string) (bool, error) {
	read := map[string]any{}
	for key, value := range recorded {
		if file, ok := value.(map[string]any); ok && len(file) == 1 && file["file"] != nil {
			content, err := os.ReadFile(filepath.Join(folder, file["file"].(string)))
			if err != nil {
				return false, err
			}
			value = string(content)
		}
		read[key] = value
	}
	plain, err := json.Marshal(inPlace(answered))
	if err != nil {
		return false, err
	}
	var same map[string]any
	if err := json.Unmarshal(plain, &same); err != nil {
		return false, err
	}
	return reflect.DeepEqual(read, same), nil
}

// filed writes the texts of an answer into the folder of its case and puts their paths in their place.
func filed(answered map[string]any, folder, id, prefix string) (map[string]any, error) {
	out := map[string]any{}
	for key, value := range answered {
		if file, ok := value.(text); ok {
			path := id + "/" + prefix + file.name
			if err := os.MkdirAll(filepath.Join(folder, id), 0o755); err != nil {
				return nil, err
			}
			if err := os.WriteFile(filepath.Join(folder, path), []byte(file.content), 0o644); err != nil {
				return nil, err
			}
			value = map[string]any{"file": path}
		}
		out[key] = value
	}
	return out, nil
}

// isNewer tells the two generations of documents apart: up to Talos 1.13, and from 1.14 on (or a commit of the main branch).
func isNewer(library string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(library, "v%d.%d", &major, &minor); err != nil {
		return true
	}
	return major > 1 || minor >= 14
}

func writeJSON(path string, value any) error {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(value); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}
