package signature

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errAnnotations reports text that is not an object of annotations.
var errAnnotations = errors.New("not a JSON object of crash annotations")

// ParseAnnotations reads the annotations that a signature uses from JSON: the .extra file
// that Mozilla's crash reporter sends beside a minidump, or the raw crash that Socorro keeps.
// Values are strings, or numbers where they are counts. Other annotations are ignored.
func ParseAnnotations(text []byte) (*Annotations, error) {
	var values map[string]json.RawMessage
	err := json.Unmarshal(text, &values)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errAnnotations, err)
	}

	a := &Annotations{
		AbortMessage:         annotation(values["AbortMessage"]),
		AsyncShutdownTimeout: annotation(values["AsyncShutdownTimeout"]),
		IPCChannelError:      annotation(values["ipc_channel_error"]),
		IPCMessageName:       annotation(values["IPCMessageName"]),
		JavaStackTrace:       annotation(values["JavaStackTrace"]),
		LargeAllocation:      annotation(values["JSLargeAllocationFailure"]),
		StackwalkerStatus:    annotation(values["mdsw_status_string"]),
	}
	if hang := annotation(values["Hang"]); hang != "" {
		a.Hang = &hang
	}
	if exception := annotation(values["JavaException"]); exception != "" {
		a.JavaException = json.RawMessage(exception)
	}

	// A size that is no number is no size.
	size, err := strconv.ParseInt(strings.TrimSpace(annotation(values["OOMAllocationSize"])), 10, 64)
	if err == nil {
		a.OOMAllocationSize = &size
	}

	// The annotation has the names of processes, Socorro those of the files.
	for name := range strings.SplitSeq(annotation(values["additional_minidumps"]), ",") {
		if name != "" {
			a.AdditionalMinidumps = append(a.AdditionalMinidumps, "upload_file_minidump_"+name)
		}
	}
	return a, nil
}

// annotation returns the text of a value: the content of a string, the JSON of another value.
func annotation(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s // also of null
	}
	return string(value)
}
