// Records what Go's regexp package says of patterns and texts: go run record.go < cases.json > verdicts.json
// In:  [{"pattern": "...", "texts": ["...", ...]}, ...]
// Out: the same with "error", or with "found": per text all parts that match, null where none does.
package main

import (
	"encoding/json"
	"os"
	"regexp"
)

type verdict struct {
	Pattern string     `json:"pattern"`
	Texts   []string   `json:"texts,omitempty"`
	Error   string     `json:"error,omitempty"`
	Found   [][]string `json:"found,omitempty"`
}

func main() {
	var cases []verdict
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	for index := range cases {
		one := &cases[index]
		compiled, err := regexp.Compile(one.Pattern)
		if err != nil {
			one.Error, one.Texts = err.Error(), nil
			continue
		}
		for _, text := range one.Texts {
			one.Found = append(one.Found, compiled.FindAllString(text, -1))
		}
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(cases); err != nil {
		panic(err)
	}
}
