package main

import (
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
)

// answerTalosconfig reads a client configuration and prints it again, after another one was merged into it where one is given.
func answerTalosconfig(in input) (map[string]any, error) {
	source, err := in.bytes("talosconfig")
	if err != nil {
		return nil, err
	}
	read, err := clientconfig.FromBytes(source)
	if err != nil {
		return map[string]any{"error": err.Error()}, nil
	}
	out := map[string]any{}
	if in.values["merge"] != nil {
		added, err := in.bytes("merge")
		if err != nil {
			return nil, err
		}
		other, err := clientconfig.FromBytes(added)
		if err != nil {
			return map[string]any{"merge_error": err.Error()}, nil
		}
		renames := []string{}
		for _, rename := range read.Merge(other) {
			renames = append(renames, rename.String())
		}
		out["renames"] = renames
	}
	printed, err := read.Bytes()
	if err != nil {
		return nil, err
	}
	out["output"] = text{"expected", string(printed)}
	return out, nil
}
