package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/batch/apiv1/batchpb"
	"github.com/aws/aws-sdk-go-v2/aws"
	awsbatch "github.com/aws/aws-sdk-go-v2/service/batch"
	"github.com/aws/aws-sdk-go-v2/service/batch/types"
	"google.golang.org/protobuf/encoding/protojson"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	kubejson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// The recipes of docs/clusters.md are read from the document, decoded by the types of
// the services that take them, and run: the command of a recipe once for each task, with
// the variables that the scheduler sets, and with files in place of the buckets.

// The addresses in the recipes.
const (
	listAddress  = "s3://packages/list.txt"
	storeAddress = "s3://symbols/v1"
)

var fence = regexp.MustCompile("(?ms)^```[a-z]+\n(.*?)^```$")

// recipes returns the code blocks below a heading of docs/clusters.md, which has n.
func recipes(t *testing.T, heading string, n int) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/clusters.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, match := range fence.FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, match[1])
	}
	if len(blocks) != n {
		t.Fatalf("docs/clusters.md, %s: %d code blocks, want %d", heading, len(blocks), n)
	}
	return blocks
}

// runTasks runs a command once for each task, each with a store of its own. The stores
// have no file in common, and together they equal the store of one run without shards.
// The environment of task i is env(i), and nothing of this process.
func runTasks(t *testing.T, command []string, tasks int, env func(i int) []string) {
	t.Helper()
	for _, address := range []string{listAddress, storeAddress} {
		if !strings.Contains(strings.Join(command, " "), address) {
			t.Fatalf("%q does not name %s", command, address)
		}
	}
	t.Setenv("PATH", programs(t)+string(filepath.ListSeparator)+os.Getenv("PATH"))

	work := t.TempDir()
	files, err := filepath.Glob("../../testdata/elf/cxx-*-dw5.elf")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d fixtures: %v", len(files), err)
	}
	list, whole := filepath.Join(work, "list"), filepath.Join(work, "whole")
	if err := os.WriteFile(list, []byte(strings.Join(files, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	messages, err := dump(t, os.Environ(), "-s", whole, "--files-from", list)
	if err != nil {
		t.Fatalf("%v: %s", err, messages)
	}

	got := map[string][]byte{}
	for i := range tasks {
		store := filepath.Join(work, strconv.Itoa(i))
		if err := os.Mkdir(store, 0o777); err != nil {
			t.Fatal(err)
		}
		var args []string
		for _, arg := range command {
			args = append(args, strings.NewReplacer(listAddress, list, storeAddress, store).Replace(arg))
		}
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + work}, env(i)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("task %d: %v: %s", i, err, out)
		}
		for name, data := range tree(t, store) {
			if got[name] != nil {
				t.Errorf("task %d: another task wrote %s too", i, name)
			}
			got[name] = data
		}
	}
	if want := tree(t, whole); len(want) < 10 || !reflect.DeepEqual(got, want) {
		t.Errorf("the tasks wrote %d files that differ from the %d of one run", len(got), len(want))
	}
}

// generic decodes JSON without types and rejects a field that is there twice.
func generic(t *testing.T, text []byte) (value any) {
	t.Helper()
	twice, err := kubejson.UnmarshalStrict(text, &value)
	if err != nil || twice != nil {
		t.Fatalf("%v %v: %s", err, twice, text)
	}
	return value
}

// TestSlurmRecipe: the shell and Slurm's own sbatch accept the script.
func TestSlurmRecipe(t *testing.T) {
	text := recipes(t, "Slurm", 1)[0]
	script := filepath.Join(t.TempDir(), "job.sh")
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("bash", "-n", script).CombinedOutput()
	if err != nil {
		t.Fatalf("bash -n: %v: %s", err, out)
	}

	// The nodes of the test have one processor and no memory to give; all other options
	// are those of the script. Until a node has registered, no job fits.
	s := startSlurm(t)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Second) {
		cmd := exec.Command("sbatch", "--test-only", "--cpus-per-task=1", "--mem=0", script)
		cmd.Env = append(os.Environ(), "SLURM_CONF="+s.config)
		out, err = cmd.CombinedOutput()
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("sbatch --test-only: %v: %s", err, out)
		}
	}
	t.Logf("%s", out)

	array := regexp.MustCompile(`(?m)^#SBATCH --array=1-(\d+)$`).FindStringSubmatch(text)
	if array == nil {
		t.Fatalf("the script has no array from 1 on: %s", text)
	}
	tasks, _ := strconv.Atoi(array[1]) // digits
	runTasks(t, []string{"sh", "-c", text}, tasks, func(i int) []string {
		return []string{
			fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", i+1), "SLURM_ARRAY_TASK_COUNT=" + array[1],
			"SLURM_ARRAY_TASK_MIN=1", "SLURM_ARRAY_TASK_MAX=" + array[1], "SLURM_ARRAY_TASK_STEP=1",
		}
	})
}

// TestKubernetesRecipe: the manifest decodes as the API server decodes it with strict
// validation of fields, and follows the server's rules for the fields that it has.
func TestKubernetesRecipe(t *testing.T) {
	text, err := yaml.YAMLToJSONStrict([]byte(recipes(t, "Kubernetes", 1)[0]))
	if err != nil {
		t.Fatal(err)
	}
	var job batchv1.Job
	unknown, err := kubejson.UnmarshalStrict(text, &job)
	if err != nil || unknown != nil {
		t.Fatalf("%v %v", err, unknown)
	}
	if job.APIVersion != "batch/v1" || job.Kind != "Job" {
		t.Fatalf("the manifest is of a %s %s", job.APIVersion, job.Kind)
	}

	// Only an Indexed Job whose pods are not restarted in place has backoffLimitPerIndex.
	spec, pod := job.Spec, job.Spec.Template.Spec
	if spec.CompletionMode == nil || *spec.CompletionMode != batchv1.IndexedCompletion || spec.Completions == nil || *spec.Completions < 2 {
		t.Fatalf("no Indexed Job: %s", text)
	}
	if spec.BackoffLimitPerIndex == nil || pod.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("backoffLimitPerIndex and restartPolicy %q", pod.RestartPolicy)
	}
	container := pod.Containers[0]
	for name, quantity := range container.Resources.Requests {
		if limit, ok := container.Resources.Limits[name]; ok && quantity.Cmp(limit) > 0 {
			t.Errorf("more %s is requested than the limit: %s > %s", name, &quantity, &limit)
		}
	}

	var env []string
	for _, v := range container.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	runTasks(t, append(container.Command, container.Args...), int(*spec.Completions), func(i int) []string {
		return append(slices.Clone(env), fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i))
	})
}

// request is an HTTP client that keeps the body of a request.
type request struct{ body []byte }

func (r *request) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	r.body = body
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader("{}")), Request: req}, err
}

// decodeAWS decodes JSON into an input of a call, and sends the input with the client
// library. The library rejects a missing field, and decodes names without their case;
// the body that it sends is the JSON, if all names are the API's.
func decodeAWS[I, O any](t *testing.T, text string, call func(c *awsbatch.Client, in *I) (O, error)) (in I) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		t.Fatalf("%v: %s", err, text)
	}

	var sent request
	keys := aws.CredentialsProviderFunc(func(_ context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "testsecret"}, nil
	})
	client := awsbatch.New(awsbatch.Options{Region: "eu-central-1", Credentials: keys, HTTPClient: &sent})
	if _, err := call(client, &in); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(generic(t, sent.body), generic(t, []byte(text))) {
		t.Errorf("the request is not that of the document: %s\n%s", sent.body, text)
	}
	return in
}

// TestAWSRecipe: the client library of AWS knows each field of the job definition and of
// the array job.
func TestAWSRecipe(t *testing.T) {
	blocks := recipes(t, "AWS Batch", 2)
	definition := decodeAWS(t, blocks[0], func(c *awsbatch.Client, in *awsbatch.RegisterJobDefinitionInput) (any, error) {
		return c.RegisterJobDefinition(t.Context(), in)
	})
	job := decodeAWS(t, blocks[1], func(c *awsbatch.Client, in *awsbatch.SubmitJobInput) (any, error) {
		return c.SubmitJob(t.Context(), in)
	})

	// The service checks these; the library does not.
	container := definition.ContainerProperties
	if definition.Type != types.JobDefinitionTypeContainer {
		t.Errorf("type %q", definition.Type)
	}
	for _, r := range container.ResourceRequirements {
		if _, err := strconv.Atoi(*r.Value); err != nil || !slices.Contains(r.Type.Values(), r.Type) {
			t.Errorf("resource requirement %s=%s", r.Type, *r.Value)
		}
	}
	if *job.JobDefinition != *definition.JobDefinitionName {
		t.Errorf("a job of %s, but the definition is of %s", *job.JobDefinition, *definition.JobDefinitionName)
	}
	size := *job.ArrayProperties.Size
	if size < 2 || size > 10000 {
		t.Fatalf("an array of %d", size)
	}

	var env []string
	for _, v := range container.Environment {
		env = append(env, *v.Name+"="+*v.Value)
	}
	runTasks(t, container.Command, int(size), func(i int) []string {
		return append(slices.Clone(env), fmt.Sprintf("AWS_BATCH_JOB_ARRAY_INDEX=%d", i), fmt.Sprintf("AWS_BATCH_JOB_ARRAY_SIZE=%d", size))
	})
}

// TestGCPRecipe: Google's message type knows each field of the job, by the name that the
// document has.
func TestGCPRecipe(t *testing.T) {
	text := []byte(recipes(t, "GCP Batch", 1)[0])
	var job batchpb.Job
	if err := protojson.Unmarshal(text, &job); err != nil {
		t.Fatal(err)
	}
	back, err := protojson.Marshal(&job)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(quoted(generic(t, back)), quoted(generic(t, text))) {
		t.Errorf("the message is not the document: %s\n%s", back, text)
	}

	group := job.TaskGroups[0]
	var env []string
	for name, value := range group.TaskSpec.Environment.GetVariables() {
		env = append(env, name+"="+value)
	}
	for name, secret := range group.TaskSpec.Environment.GetSecretVariables() {
		if !regexp.MustCompile(`^projects/[^/]+/secrets/[^/]+/versions/[^/]+$`).MatchString(secret) {
			t.Errorf("%s: %q is no version of a secret", name, secret)
		}
	}
	runTasks(t, group.TaskSpec.Runnables[0].GetContainer().Commands, int(group.TaskCount), func(i int) []string {
		return append(slices.Clone(env), fmt.Sprintf("BATCH_TASK_INDEX=%d", i), fmt.Sprintf("BATCH_TASK_COUNT=%d", group.TaskCount))
	})
}

// quoted returns a JSON value with each number as a string: 64-bit numbers of messages
// may be either.
func quoted(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			value[name] = quoted(v)
		}
	case []any:
		for i, v := range value {
			value[i] = quoted(v)
		}
	case int64, float64:
		return fmt.Sprint(value)
	}
	return value
}
