export { KubernetesYamlError, parseKubernetesYaml } from "./parse-kubernetes-yaml.ts";
