// gitops-judge health.lua < objects.json   says what GitOps tools make of objects: a list of `{"kstatus": "...", "argo": {"status": "...", "message": "..."}}`
//
// kstatus is the genuine one, which Flux waits by. The script runs as Argo CD runs it (util/lua/lua.go): gopher-lua, the object as the global `obj`, its answer
// the table that it returns.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

type verdict struct {
	Kstatus string `json:"kstatus"`
	Argo    health `json:"argo"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	script, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	var objects []unstructured.Unstructured
	var raw []json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&raw); err != nil {
		return err
	}
	for _, one := range raw {
		var object unstructured.Unstructured
		if err := object.UnmarshalJSON(one); err != nil {
			return err
		}
		objects = append(objects, object)
	}
	verdicts := []verdict{}
	for i := range objects {
		result, err := status.Compute(&objects[i])
		if err != nil {
			return err
		}
		argo, err := judge(string(script), objects[i].Object)
		if err != nil {
			return err
		}
		verdicts = append(verdicts, verdict{Kstatus: result.Status.String(), Argo: argo})
	}
	return json.NewEncoder(os.Stdout).Encode(verdicts)
}

// judge runs the script with the libraries that Argo CD opens for one without `useOpenLibs`: none but the base without files.
func judge(script string, object map[string]any) (health, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(library.open), NRet: 0, Protect: true}, lua.LString(library.name)); err != nil {
			return health{}, err
		}
	}
	state.SetGlobal("obj", value(state, object))
	if err := state.DoString(script); err != nil {
		return health{}, err
	}
	table, isTable := state.Get(-1).(*lua.LTable)
	if !isTable {
		return health{}, fmt.Errorf("the script returned no table")
	}
	return health{Status: table.RawGetString("status").String(), Message: table.RawGetString("message").String()}, nil
}

func value(state *lua.LState, any_ any) lua.LValue {
	switch one := any_.(type) {
	case nil:
		return lua.LNil
	case bool:
		return lua.LBool(one)
	case float64:
		return lua.LNumber(one)
	case int64:
		return lua.LNumber(one)
	case string:
		return lua.LString(one)
	case []any:
		table := state.NewTable()
		for _, item := range one {
			table.Append(value(state, item))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for key, item := range one {
			table.RawSetString(key, value(state, item))
		}
		return table
	}
	return lua.LNil
}
