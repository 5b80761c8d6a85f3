package s3

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// profile is the settings of one profile in the SDKs' files, by name.
type profile map[string]string

// readProfile returns the profile that AWS_PROFILE names, or the profile default. Values in
// the file of credentials replace those in the file of settings.
func readProfile() (profile, error) {
	name := cmp.Or(os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE"), "default")
	p, err := readNamed(name)
	if err == nil && len(p) == 0 && name != "default" {
		err = fmt.Errorf("AWS_PROFILE %s: no such profile in %s or %s", name, settingsFile(), credentialsFile())
	}
	return p, err
}

// readNamed returns the profile of a name, which is empty if there is none.
func readNamed(name string) (profile, error) {
	p := profile{}
	section := "profile " + name
	if name == "default" {
		section = name
	}
	err := p.read(settingsFile(), section)
	if err != nil {
		return nil, err
	}
	if services := p["services"]; services != "" {
		err = p.read(settingsFile(), "services "+services)
	}
	if err != nil {
		return nil, err
	}
	return p, p.read(credentialsFile(), name)
}

func settingsFile() string    { return sharedFile("AWS_CONFIG_FILE", "config") }
func credentialsFile() string { return sharedFile("AWS_SHARED_CREDENTIALS_FILE", "credentials") }

func sharedFile(variable, name string) string {
	home, _ := os.UserHomeDir() // without one there is no file
	return cmp.Or(os.Getenv(variable), filepath.Join(home, ".aws", name))
}

// read adds the settings of a section of a file. A file that does not exist is empty.
func (p profile) read(path, section string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()

	within, block := false, ""
	services := strings.HasPrefix(section, "services ")
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), " #")
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ";"):
		case strings.HasPrefix(trimmed, "["):
			within = strings.Join(strings.Fields(strings.Trim(trimmed, "[]")), " ") == section
		case within && (line[0] == ' ' || line[0] == '\t'):
			// Of settings of several values the endpoint of S3 counts alone: [services …], s3 =.
			name, value, _ := strings.Cut(trimmed, "=")
			if services && block == "s3" && strings.TrimSpace(name) == "endpoint_url" {
				p["s3 endpoint_url"] = strings.TrimSpace(value)
			}
		case within && services:
			name, _, _ := strings.Cut(trimmed, "=")
			block = strings.ToLower(strings.TrimSpace(name))
		case within:
			name, value, _ := strings.Cut(trimmed, "=")
			p[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
		}
	}
	return lines.Err()
}
