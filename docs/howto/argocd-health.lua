-- Health of TalosCluster, TalosControlPlane, TalosWorker, TalosMachine and KubernetesCluster for Argo CD, from what the operator says for every tool:
-- observedGeneration, Reconciling, Stalled, Paused and Ready.
local hs = { status = "Progressing", message = "Waiting for the operator to read the object" }
if obj.metadata.deletionTimestamp ~= nil then
  hs.message = "Being deleted"
  return hs
end
if obj.status == nil or obj.status.conditions == nil then
  return hs
end
local conditions = {}
for _, condition in ipairs(obj.status.conditions) do
  conditions[condition.type] = condition
end
local function isTrue(name)
  return conditions[name] ~= nil and conditions[name].status == "True"
end
-- Nobody reads a newer spec before the annotation reconcile-mode is removed.
if isTrue("Paused") and conditions.Paused.reason ~= "ReconcileModeImport" then
  hs.status = "Suspended"
  hs.message = conditions.Paused.message
  return hs
end
if obj.status.observedGeneration ~= nil and obj.status.observedGeneration ~= obj.metadata.generation then
  hs.message = "Waiting for the operator to read the newest spec"
  return hs
end
if isTrue("Reconciling") then
  hs.message = conditions.Reconciling.message
  return hs
end
if isTrue("Stalled") then
  hs.status = "Degraded"
  hs.message = conditions.Stalled.message
  return hs
end
if isTrue("Ready") then
  hs.status = "Healthy"
  hs.message = conditions.Ready.message
  return hs
end
if conditions.Ready ~= nil then
  hs.message = conditions.Ready.message
end
return hs
