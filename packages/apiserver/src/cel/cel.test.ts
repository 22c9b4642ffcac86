import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createCelEnvironment } from "./library.ts";
import { escapeField, prepareExpression } from "./names.ts";
import { parseExpression } from "./parse-expression.ts";
import { tryParseQuantity } from "./quantity.ts";

const environment = createCelEnvironment().registerVariable("self", "dyn");
const evaluate = (expression: string, self: unknown = [1n, 2n]): unknown =>
  parseExpression(environment, prepareExpression(expression).text)({ self });

describe("the CEL library of Kubernetes", () => {
  const truths = [
    "self.transformList(i, v, v * 2 + i) == [2, 5] && self.transformList(i, v, v > 1, v) == [2]",
    "{'a': 'x'}.transformMap(k, v, v + k)['a'] == 'xa' && {'a': 'x', 'b': 'y'}.transformMap(k, v, k == 'b', v).size() == 1",
    "{'a': 'x'}.transformMapEntry(k, v, {v: k})['x'] == 'a' && self.transformMap(i, v, v)[0] == 1",
    "self.sortBy(i, -i) == [2, 1] && self.first().value() == 1 && self.last().value() == 2 && !([].first().hasValue())",
    "lists.range(3) == [0, 1, 2] && ip.isCanonical('::1') && !ip.isCanonical('::01')",
    `strings.quote('a"b') == '"a\\\\"b"' && strings.quote('x') == '"x"'`,
    "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.0.0-rc.2').isLessThan(semver('1.0.0')) && semver('1.2.3').minor() == 2",
    "semver('1.0.0-rc.10').isGreaterThan(semver('1.0.0-rc.9')) && semver('1.0.0+a') == semver('1.0.0')",
    "isSemver('1.2.3') && !isSemver('v1.2') && isSemver('v1.2', true) && !isSemver('01.2.3') && isSemver('01.2.3', true)",
    "self.all(i, v, v > i)",
    "self.exists(i, v, i == 1 && v == 2)",
    "self.exists_one(i, i == 2)",
    "[?optional.of(1), 2] == [1, 2] && [?optional.none(), 2] == [2] && [[?optional.of('a')], ['b']].size() == 2",
    "{?'a': optional.of(1), 'b': 2}.size() == 2 && !('a' in {?'a': optional.none()}) && {'?': '[?'}['?'] == '[?'",
    "[?{'a': 'x'}.?a, true ? 'y' : 'z', self[?0].orValue(9) == 1 ? 'one' : ''] == ['x', 'y', 'one']",
    "{'a': 1}.all(k, v, k == 'a' && v == 1)",
    "[0, 1].exists(i, v, 1 / v == 1)",
    "!([0, 1].all(i, v, v > 0 && 1 / v == 1))",
    "has({'a': 1}.a) && !has({'a': 1}.b)",
    "has(dyn([{'a': 1}])[0].a)",
    "optional.of(3).optMap(q, q + 1).value() == 4",
    "!optional.none().optMap(q, q + 1).hasValue()",
    "optional.of({'a': 1}).optFlatMap(q, q.?a).value() == 1",
    "{'a': 1}.?nothing.orValue(7) == 7 && {'a': 1}.?a.orValue(7) == 1",
    "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1') == quantity('1000m')",
    "quantity('1.5k').asInteger() == 1500 && sign(quantity('-1m')) == -1",
    "quantity('1').add(quantity('500m')).sub(1) == quantity('0.5')",
    "isURL('https://a.b:6443/x?y=z') && url('https://a.b:6443/x').getHostname() == 'a.b'",
    "!isURL('a b') && !isURL('a.b') && url('/x').getScheme() == ''",
    "url('https://[::1]:80/').getHostname() == '::1' && url('https://a/?k=1&k=2').getQuery()['k'] == ['1', '2']",
    "ip('10.0.0.1').family() == 4 && ip('::1').isLoopback() && !ip('10.0.0.1').isLinkLocalUnicast()",
    "!isIP('010.0.0.1') && !isIP('::ffff:1.2.3.4') && !isIP('fe80::1%eth0')",
    "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
    "string(cidr('10.1.2.3/8').masked()) == '10.0.0.0/8' && string(ip('2001:db8:0:0:0:0:0:1')) == '2001:db8::1'",
    "'a-b'.charAt(1) == '-' && 'abc'.replace('b', '$&') == 'a$&c' && 'aaa'.replace('a', 'b', 2) == 'bba'",
    "'abc 123'.find('[0-9]+') == '123' && 'a1b2'.findAll('[0-9]') == ['1', '2'] && 'x'.find('y') == ''",
    "'a.b'.matches('^a\\\\.b$') && !'axb'.matches('^a\\\\.b$')",
    "[1, 2, 3].sum() == 6 && [].sum() == 0 && self.isSorted() && self.min() == 1 && [1.5, 2.0].max() == 2.0",
    "['b', 'a'].sort() == ['a', 'b'] && [1, 1, 2].distinct() == [1, 2] && [[1], [2]].flatten() == [1, 2]",
    "self.indexOf(2) == 1 && self.lastIndexOf(9) == -1 && [1, 2, 3].slice(1, 2) == [2]",
    "sets.contains(self, [1]) && sets.equivalent([1, 2], [2, 1]) && sets.intersects(self, [2, 3])",
    "format.dns1123Label().validate('A_').hasValue() && !format.named('uuid').value().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()",
    "'%s has %d, %.2f, %x'.format(['x', 3, 1.5, 255]) == 'x has 3, 1.50, ff'",
  ];
  for (const expression of truths) {
    it(expression, () => assert.equal(evaluate(expression), true));
  }

  for (const expression of [
    "quantity('x')",
    "ip('x')",
    "cidr('10.0.0.0/33')",
    "url('x y')",
    "[].min()",
    "'a'.charAt(2)",
    "[1].slice(0, 2)",
    "'%s'.format([])",
    "quantity('1.5').asInteger()",
  ]) {
    it(`${expression} is an error`, () => assert.throws(() => evaluate(expression)));
  }
});

describe("names in CEL", () => {
  for (const [name, escaped] of [
    ["plain", "plain"],
    ["a-b.c/d", "a__dash__b__dot__c__slash__d"],
    ["a__b", "a__underscores__b"],
    ["namespace", "__namespace__"],
    ["in", "__in__"],
    ["1a", undefined],
    ["ä", undefined],
  ] as const) {
    it(`${name} is ${escaped ?? "out of reach"}`, () => assert.equal(escapeField(name), escaped));
  }

  it("finds oldSelf in code and not in texts or fields", () => {
    assert.equal(prepareExpression("self == oldSelf").usesOldSelf, true);
    assert.equal(prepareExpression("self == 'oldSelf' || self.oldSelf || r\"oldSelf\" == '''oldSelf'''").usesOldSelf, false);
  });

  it("rewrites calls and leaves texts alone", () => {
    assert.equal(
      prepareExpression("has(self.a) && self.b.matches('has(x)') && self.has").text,
      "hasField(self.a) && self.b.matches('has(x)') && self.has",
    );
  });
});

describe("quantities", () => {
  for (const text of ["1", "-1", "+1", "1.5", ".5", "1.", "1Ki", "1e3", "1E-3", "100m", "0"]) {
    it(`${text} is one`, () => assert.notEqual(tryParseQuantity(text), undefined));
  }
  for (const text of ["", "1 ", "1KB", "Ki", "1ki", "--1", "1e", "1.2.3"]) {
    it(`${JSON.stringify(text)} is none`, () => assert.equal(tryParseQuantity(text), undefined));
  }
});
