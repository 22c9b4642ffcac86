package main

import (
	"bytes"

	jsonpatch "github.com/evanphx/json-patch"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"
)

func canonical(provider config.Provider) ([]byte, error) {
	return provider.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
}

// answerEncoding decodes a config and prints it again, with secrets and without.
func answerEncoding(in input) (map[string]any, error) {
	source, err := in.bytes("config")
	if err != nil {
		return nil, err
	}
	provider, err := configloader.NewFromBytes(source)
	if err != nil {
		return map[string]any{"error": err.Error()}, nil
	}
	printed, err := canonical(provider)
	if err != nil {
		return map[string]any{"error": err.Error()}, nil
	}
	redacted, err := canonical(provider.RedactSecrets("**REDACTED**"))
	if err != nil {
		return map[string]any{"error": err.Error()}, nil
	}
	out := map[string]any{"canonical": text{"canonical.yaml", string(printed)}}
	if !bytes.Equal(printed, redacted) {
		out["redacted"] = text{"redacted.yaml", string(redacted)}
	}
	// Only asked of texts that are about style.
	if in.string("kind") == "" {
		unmodified, err := provider.Bytes()
		out["bytes_unmodified_equal_input"] = err == nil && bytes.Equal(unmodified, source)
	}
	return out, nil
}

// answerPatches applies patches as `talosctl machineconfig patch` does.
func answerPatches(in input) (map[string]any, error) {
	source, err := in.bytes("config")
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	if _, err := configloader.NewFromBytes(source); err != nil {
		out["config_load_error"] = err.Error()
	}
	given, _ := in.values["patches"].([]any)
	var patches []configpatcher.Patch
	for index, value := range given {
		content, err := in.bytesOf(value)
		if err != nil {
			return nil, err
		}
		patch, err := configpatcher.LoadPatch(content)
		if err != nil {
			out["stage"], out["patch_index"], out["error"] = "load_patch", index, err.Error()
			return out, nil
		}
		patches = joined(patches, patch)
	}
	patched, err := configpatcher.Apply(configpatcher.WithBytes(source), patches)
	var output []byte
	if err == nil {
		output, err = patched.Bytes()
	}
	if err != nil {
		out["stage"], out["error"] = "apply", err.Error()
		return out, nil
	}
	out["stage"], out["output"] = "ok", text{"expected.yaml", string(output)}
	reloaded, err := configloader.NewFromBytes(output)
	if err != nil {
		out["reload_error"] = err.Error()
		return out, nil
	}
	printed, err := canonical(reloaded)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(printed, output) {
		out["canonical"] = text{"expected-canonical.yaml", string(printed)}
	}
	return out, nil
}

// joined puts operations that come one after another into one list, as talosctl does when it loads patches.
func joined(patches []configpatcher.Patch, patch configpatcher.Patch) []configpatcher.Patch {
	operations, isJSON := patch.(jsonpatch.Patch)
	if isJSON && len(patches) > 0 {
		if last, ok := patches[len(patches)-1].(jsonpatch.Patch); ok {
			patches[len(patches)-1] = append(last, operations...)
			return patches
		}
	}
	return append(patches, patch)
}

type mode string

func (m mode) String() string        { return string(m) }
func (m mode) RequiresInstall() bool { return m == "metal" }
func (m mode) InContainer() bool     { return m == "container" }

// answerValidate asks what `talosctl validate` would say, in every mode, strict and not.
func answerValidate(in input) (map[string]any, error) {
	source, err := in.bytes("config")
	if err != nil {
		return nil, err
	}
	provider, err := configloader.NewFromBytes(source)
	if err != nil {
		return map[string]any{"load_error": err.Error()}, nil
	}
	out := map[string]any{"complete": provider.CompleteForBoot()}
	for _, name := range []string{"metal", "cloud", "container"} {
		verdicts := map[string]any{}
		for _, strictness := range []string{"lenient", "strict"} {
			options := []validation.Option{validation.WithLocal()}
			if strictness == "strict" {
				options = append(options, validation.WithStrict())
			}
			warnings, err := provider.Validate(mode(name), options...)
			verdicts[strictness] = map[string]any{"error": orNull(err), "warnings": append([]string{}, warnings...)}
		}
		out[name] = verdicts
	}
	return out, nil
}
